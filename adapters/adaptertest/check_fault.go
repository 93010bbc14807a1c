package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rcbench/adapters"
)

var faultChecks = []Check{{
	Name:  "connection cut in mid-reply",
	Doc:   "When the connection ends in the middle of a reply, the method fails: no part of a value, no wait, no second attempt.",
	Modes: anyMode,
	Run:   checkCut,
}}

func checkCut(ctx context.Context, e *Env) error {
	var f findings
	big, small, list := e.key("big"), e.key("small"), e.key("list")
	f.store(ctx, e, "SET", big, strings.Repeat("x", 64<<10))
	f.store(ctx, e, "SET", small, "small")
	f.store(ctx, e, append([]string{"RPUSH", list}, strings.Fields(strings.Repeat("element ", 2000))...)...)

	// cutIn connects, has the connection cut after n bytes of replies, and
	// runs what must then fail.
	cutIn := func(name, command string, n int, run func(c adapters.Client) error) error {
		proxy, cfg, err := e.fault(ctx)
		if err != nil {
			return err
		}
		c, err := e.connect(ctx, e.Mode, cfg, poolSize)
		if err != nil {
			return err
		}
		if err := proxy.cut(ctx, n); err != nil {
			return err
		}
		before, err := e.Server.Counters(ctx)
		if err != nil {
			return err
		}
		err, late := within(name, async(func() error { return run(c) }))
		if f.ok(name, late) {
			f.unknown(name, err)
		}
		// miniredis counts a command when it has written the reply, which
		// the cut may prevent.
		if !e.Server.Miniredis() {
			f.ok(name, e.counted(ctx, before, map[string]int64{command: 1}))
		}
		after, err := e.Server.Counters(ctx)
		if n := after.Since(before).Calls[command]; f.ok(name, err) && n > 1 {
			f.addf("%s: the server was asked %d times, want once", name, n)
		}

		// The client may connect again, or not; it does not hang, and
		// has no value but the right one.
		proxy.proxy.Stop()
		err, late = within("Get afterwards", async(func() error {
			v, err := c.Get(ctx, small)
			if err == nil {
				f.equal("Get afterwards", string(v), "small")
			}
			return nil
		}))
		f.ok(name, errors.Join(err, late))
		return nil
	}

	for _, at := range []struct {
		where string
		bytes int
	}{
		{"the length", 3}, // $65536\r\n
		{"the value", 1000},
		{"the line end", len("$65536\r\n") + 64<<10 + 1},
	} {
		err := cutIn("Get, cut in "+at.where, "get", at.bytes, func(c adapters.Client) error {
			v, err := c.Get(ctx, big)
			f.equal("Get: bytes of value beside the error", len(v), 0)
			return err
		})
		if err != nil {
			return err
		}
	}
	err := cutIn("LRange", "lrange", 5000, func(c adapters.Client) error {
		return second(c.LRange(ctx, list, 0, -1))
	})
	if err != nil {
		return err
	}
	err = cutIn("Incr, cut in the number", "incr", 1, func(c adapters.Client) error {
		return second(c.Incr(ctx, e.key("n")))
	})
	if err != nil {
		return err
	}
	for _, how := range execs {
		err := cutIn(how.name, "incr", 2000, func(c adapters.Client) error {
			b := c.NewBatch(4)
			b.Get(small)
			b.Get(big)
			b.Incr(e.key(fmt.Sprint("counter", how.name)))
			err := how.exec(b, ctx)
			// The first reply had arrived, and may be known.
			if v, err := b.Bytes(0); err == nil {
				f.equal(how.name+": Bytes of the reply before the cut", string(v), "small")
			}
			_, err1 := b.Bytes(1)
			f.unknown(how.name+": Bytes of the reply that was cut", err1)
			_, err2 := b.Int(2)
			f.unknown(how.name+": Int of the reply behind the cut", err2)
			return err
		})
		if err != nil {
			return err
		}
	}
	return f.err()
}
