package adaptertest

import (
	"context"
	"fmt"
	"sync"

	"rcbench/adapters"
)

var connectionChecks = []Check{{
	Name: "connections as asked",
	Doc:  "Dial and Share open one connection and Open the number asked for, before they return; no work opens another.",
	Run:  checkConnections,
}}

func checkConnections(ctx context.Context, e *Env) error {
	setups, err := e.setups(ctx)
	if err != nil {
		return err
	}
	var f findings
	for _, setup := range setups {
		for _, m := range e.modes() {
			sizes := []int{1}
			if m == Open {
				sizes = []int{1, 3, 10}
			}
			for _, n := range sizes {
				if err := countConnections(ctx, e, &f, setup, m, n); err != nil {
					return err
				}
			}
		}
	}
	return f.err()
}

func countConnections(ctx context.Context, e *Env, f *findings, setup adapters.Setup, m Mode, n int) error {
	cfg, err := e.config()
	if err != nil {
		return err
	}
	cfg.Setup = setup
	before, err := e.settled(ctx)
	if err != nil {
		return err
	}
	c, err := e.connect(ctx, m, cfg, n)
	if err != nil {
		return err
	}
	defer c.Close()
	input := fmt.Sprintf("%s %s of %d: ", setup, m, n)
	count := func(when string) {
		// A client that sends nothing on connect may be back before the
		// server has accepted.
		late := poll(ctx, func() (bool, error) {
			now, err := e.Server.Counters(ctx)
			return now.Connections-before.Connections >= int64(n), err
		})
		now, err := e.Server.Counters(ctx)
		f.ok(input, err)
		f.equal(input+"connections accepted "+when, now.Connections-before.Connections, int64(n))
		f.equal(input+"clients connected "+when, now.Clients-before.Clients, int64(n))
		if late != nil && late != errNotYet {
			f.ok(input, late)
		}
	}
	count("when it returned")
	goroutines := 4 * n
	if m == Dial {
		goroutines = 1
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			k, b := e.key(fmt.Sprint(g)), c.NewBatch(10)
			for range 3 {
				f.ok(input+"Set", c.Set(ctx, k, "v"))
				_, err := c.Get(ctx, k)
				f.ok(input+"Get", err)
				for range 5 {
					b.Get(k)
				}
				f.ok(input+"Exec", b.Exec(ctx))
				b.Reset()
				b.Incr(k + "counter")
				f.ok(input+"ExecTx", b.ExecTx(ctx))
				b.Reset()
				_, err = c.Do(ctx, "GET", k)
				f.ok(input+"Do", err)
				if async, ok := c.(adapters.Async); ok {
					f.ok(input+"GetAll", async.GetAll(ctx, []string{k, k}, make([][]byte, 2)))
				}
			}
		})
	}
	wg.Wait()
	count("after work")
	return nil
}
