package adaptertest

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"sync"

	"rcbench/adapters"
)

var closeChecks = []Check{{
	Name:  "close ends every connection",
	Doc:   "After Close the server has the clients it had before; a second Close does nothing, and a command fails.",
	Modes: anyMode,
	Run:   checkCloseConnections,
}, {
	Name:  "close ends every goroutine",
	Doc:   "After Close no goroutine runs that the client has started.",
	Modes: anyMode,
	Run:   checkCloseGoroutines,
}, {
	Name:  "close ends commands in flight",
	Doc:   "Close returns soon, and so do the commands that wait for a server that does not answer.",
	Modes: anyMode,
	Run:   checkCloseInFlight,
}}

func checkCloseConnections(ctx context.Context, e *Env) error {
	cfg, err := e.config()
	if err != nil {
		return err
	}
	setups, err := e.setups(ctx)
	if err != nil {
		return err
	}
	var f findings
	for _, cfg.Setup = range setups {
		before, err := e.settled(ctx)
		if err != nil {
			return err
		}
		c, err := e.connect(ctx, e.Mode, cfg, poolSize)
		if err != nil {
			return err
		}
		if err := work(ctx, e, c); err != nil {
			return err
		}
		f.ok(string(cfg.Setup)+" Close", c.Close())
		var now int64
		late := poll(ctx, func() (bool, error) {
			counters, err := e.Server.Counters(ctx)
			now = counters.Clients
			return now <= before.Clients, err
		})
		if late != nil {
			f.addf("%s: clients connected after Close: got %d, want %d: %w", cfg.Setup, now, before.Clients, late)
		}

		if panics(func() { c.Close() }) {
			f.addf("%s: the second Close panics", cfg.Setup)
		}
		err, late = within("Set after Close", async(func() error { return c.Set(ctx, e.key("k"), "v") }))
		if f.ok("Set after Close", late) {
			f.unknown("Set after Close", err)
		}
	}
	return f.err()
}

// work sends some of everything, from several goroutines where that is allowed.
func work(ctx context.Context, e *Env, c adapters.Client) error {
	var f findings
	goroutines := 2 * poolSize
	if e.Mode == Dial {
		goroutines = 1
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			k, b := e.key(fmt.Sprint(g)), c.NewBatch(2)
			for range 5 {
				f.ok("Set", c.Set(ctx, k, "v"))
				_, err := c.Get(ctx, k)
				f.ok("Get", err)
				b.Get(k)
				f.ok("Exec", b.Exec(ctx))
				b.Reset()
			}
			b.Get(k)
			f.ok("ExecTx", b.ExecTx(ctx))
		})
	}
	wg.Wait()
	// With a context that can end, for which some clients start a goroutine.
	within, cancel := context.WithTimeout(ctx, tooLong)
	defer cancel()
	f.ok("Ping", c.Ping(within))
	if async, ok := c.(adapters.Async); ok {
		f.ok("GetAll", async.GetAll(ctx, []string{e.key("0"), e.key("0")}, make([][]byte, 2)))
	}
	return f.err()
}

func checkCloseGoroutines(ctx context.Context, e *Env) error {
	setups, err := e.setups(ctx)
	if err != nil {
		return err
	}
	var f findings
	for _, transport := range []string{"tcp", "tls"} {
		if transport == "tls" && e.lacks(adapters.CapTLS) {
			continue
		}
		cfg, err := e.Server.Config(transport)
		if err != nil {
			return err
		}
		for _, cfg.Setup = range setups {
			id := e.key(transport + string(cfg.Setup))
			pprof.Do(ctx, pprof.Labels(clientLabel, id), func(ctx context.Context) {
				var c adapters.Client
				if c, err = e.connect(ctx, e.Mode, cfg, poolSize); err != nil {
					return
				}
				if err = work(ctx, e, c); err == nil {
					err = c.Close()
				}
			})
			if err != nil {
				return err
			}
			// A goroutine that Close has told to end may need a moment
			// to do so.
			var left string
			late := poll(ctx, func() (bool, error) {
				left, err = goroutines(clientLabel, id)
				return left == "", err
			})
			if late != nil {
				f.addf("%s %s: goroutines left by Close: %w: got %d, want none:\n%s",
					transport, cfg.Setup, late, strings.Count(left, "# labels:"), left)
			}
		}
	}
	return f.err()
}

func checkCloseInFlight(ctx context.Context, e *Env) error {
	proxy, cfg, err := e.fault(ctx)
	if err != nil {
		return err
	}
	setups, err := e.setups(ctx)
	if err != nil {
		return err
	}
	var f findings
	var clients []adapters.Client
	for _, cfg.Setup = range setups {
		c, err := e.connect(ctx, e.Mode, cfg, poolSize)
		if err != nil {
			return err
		}
		if e.Mode != Dial {
			if err := e.crowd(ctx, c); err != nil {
				return err
			}
		}
		clients = append(clients, c)
	}
	if err := proxy.silence(ctx); err != nil {
		return err
	}
	for _, c := range clients {
		before, err := e.Server.Counters(ctx)
		if err != nil {
			return err
		}
		// As many as there are connections, and one that waits for one.
		callers := poolSize + 1
		if e.Mode == Dial {
			callers = 1
		}
		results := make(chan error, callers)
		for range callers {
			go func() { results <- second(c.Get(ctx, e.key("k"))) }()
		}
		f.ok("Get", e.counted(ctx, before, map[string]int64{"get": 1}))
		_, late := within("Close with commands in flight", async(c.Close))
		f.ok("Close", late)
		for range callers {
			err, late := within("Get in flight when the client is closed", results)
			if !f.ok("Get", late) {
				break
			}
			f.unknown("Get in flight when the client is closed", err)
		}
	}
	return f.err()
}
