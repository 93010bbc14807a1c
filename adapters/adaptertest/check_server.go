package adaptertest

import (
	"context"
	"fmt"
	"time"

	"rcbench/adapters"
)

// The checks of what reaches the server and when, which no result of a client
// can show.
var serverChecks = []Check{{
	Name:  "server sees each command once",
	Doc:   "A method sends its command once and nothing else: no cache, no second attempt, whether it succeeds or not.",
	Modes: anyMode,
	Run:   checkOnce,
}, {
	Name:  "reply is awaited",
	Doc:   "No method returns while the server has not answered.",
	Modes: anyMode,
	Run:   checkAwaited,
}, {
	Name:  "batch is one pipeline",
	Doc:   "All commands of a Batch are sent before the first reply is there, in few writes.",
	Modes: anyMode,
	Run:   checkPipeline,
}, {
	Name:  "reset drops commands",
	Doc:   "What was queued before Reset is never executed.",
	Modes: anyMode,
	Run:   checkQueued,
}}

func checkOnce(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	const times = 3
	for _, call := range calls {
		// Commands that succeed, find nothing, and are refused.
		keys := []string{e.key(call.method)}
		if call.sets != nil {
			f.store(ctx, e, onKey(call.sets, keys[0])...)
		}
		if call.misses {
			keys = append(keys, e.key("missing"))
		}
		if call.spoils != nil {
			keys = append(keys, e.key(call.method+" spoilt"))
			f.store(ctx, e, onKey(call.spoils, keys[len(keys)-1])...)
		}
		sent, err := e.calls(ctx, func() {
			for _, k := range keys {
				for range times {
					// Whether the result is right is not asked here.
					_ = call.run(ctx, c, k)
				}
			}
		})
		n := int64(times * len(keys))
		f.got(fmt.Sprintf("commands that reached the server of %d x %s", n, call.method),
			sent, err, map[string]int64{call.command: n})
	}
	return f.err()
}

// checkAwaited gives each call a connection of its own, so that a client may
// not hold one back because of another, and all look at the same silence.
func checkAwaited(ctx context.Context, e *Env) error {
	proxy, cfg, err := e.fault(ctx)
	if err != nil {
		return err
	}
	type waiting struct {
		name, command string
		run           func() error
		n             int64
	}
	var all []waiting
	for _, call := range calls {
		c, err := e.connect(ctx, e.Mode, cfg, 1)
		if err != nil {
			return err
		}
		all = append(all, waiting{call.method, call.command, func() error { return call.run(ctx, c, e.key(call.method)) }, 1})
	}
	for _, how := range execs {
		c, err := e.connect(ctx, e.Mode, cfg, 1)
		if err != nil {
			return err
		}
		b := c.NewBatch(1)
		all = append(all, waiting{how.name, "get", func() error { b.Get(e.key("k")); return how.exec(b, ctx) }, 3})
	}

	if err := proxy.silence(ctx); err != nil {
		return err
	}
	before, err := e.Server.Counters(ctx)
	if err != nil {
		return err
	}
	var f findings
	results := make([]<-chan error, len(all))
	for i, w := range all {
		results[i] = async(w.run)
	}
	want := map[string]int64{}
	for _, w := range all {
		want[w.command] = w.n
	}
	f.ok("waiting for all commands", e.counted(ctx, before, want))
	time.Sleep(meanwhile)
	for i, w := range all {
		select {
		case err := <-results[i]:
			f.addf("%s: returned %v while the server had not answered", w.name, err)
		default:
		}
	}
	return f.err()
}

func checkPipeline(ctx context.Context, e *Env) error {
	const commands = 50
	proxy, cfg, err := e.fault(ctx)
	if err != nil {
		return err
	}
	// The end of a connection is a read, too: those of other checks must be
	// over.
	if _, err := e.settled(ctx); err != nil {
		return err
	}
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	for _, how := range execs {
		b := c.NewBatch(commands)
		for range commands {
			b.Get(e.key("k"))
		}
		before, err := e.Server.Counters(ctx)
		if err != nil {
			return err
		}
		f.ok(how.name, how.exec(b, ctx))
		after, err := e.Server.Counters(ctx)
		if err != nil {
			return err
		}
		if reads := after.Since(before).Reads; reads > commands/4 {
			f.addf("%s of %d commands: the server needed %d reads, want at most %d", how.name, commands, reads, commands/4)
		}
	}

	clients := make([]adapters.Client, len(execs))
	for i := range execs {
		if clients[i], err = e.connect(ctx, e.Mode, cfg, poolSize); err != nil {
			return err
		}
	}
	if err := proxy.silence(ctx); err != nil {
		return err
	}
	for i, how := range execs {
		before, err := e.Server.Counters(ctx)
		if err != nil {
			return err
		}
		b := clients[i].NewBatch(commands)
		for range commands {
			b.Get(e.key("k"))
		}
		go how.exec(b, ctx)
		f.ok(how.name+" before the first reply", e.counted(ctx, before, map[string]int64{"get": commands}))
	}
	return f.err()
}

func checkQueued(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	b := c.NewBatch(3)
	for range 3 {
		b.Incr(e.key("abandoned"))
	}
	b.Reset()
	b.Set(e.key("k"), "v")
	sent, err := e.calls(ctx, func() {
		f.ok("Exec", b.Exec(ctx))
		b.Reset()
		f.ok("Ping", c.Ping(ctx))
	})
	f.got("commands that reached the server after Reset", sent, err, map[string]int64{"set": 1, "ping": 1})
	f.server(ctx, e, int64(0), "EXISTS", e.key("abandoned"))
	return f.err()
}
