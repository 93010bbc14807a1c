package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rcbench/adapters"
)

var concurrencyChecks = []Check{{
	Name:  "replies reach their askers",
	Doc:   "64 goroutines with keys and values of their own, commands, errors, batches and transactions: each gets what it asked for.",
	Modes: concurrent,
	Run:   checkAskers,
}, {
	Name:  "shared connection carries all callers",
	Doc:   "The commands of callers of Share that come together are sent together, or before the first reply is there.",
	Needs: adapters.CapMultiplex,
	Modes: []Mode{Share},
	Run:   checkMultiplexed,
}, {
	Name:  "pool lends a connection to one caller",
	Doc:   "With all connections of Open busy, a caller waits, and gets one when it is free.",
	Modes: []Mode{Open},
	Run:   checkLending,
}, {
	Name:  "async",
	Doc:   "GetAll has all commands in flight at once, stores values by index, and returns the first error.",
	Needs: adapters.CapAsync,
	Modes: []Mode{Share},
	Run:   checkAsync,
}}

func checkAskers(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	const goroutines, rounds = 64, 12
	var f findings
	f.store(ctx, e, "RPUSH", e.key("list"), "x")
	start := make(chan struct{})
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			<-start
			k, batch := e.key(fmt.Sprint(g)), c.NewBatch(4)
			for round := range rounds {
				want := fmt.Sprintf("goroutine %d round %d", g, round)
				f.ok("Set", c.Set(ctx, k, want))
				v, err := c.Get(ctx, k)
				f.text("Get", v, err, want)
				n, err := c.Incr(ctx, k+"counter")
				f.got("Incr", n, err, int64(round+1))

				switch round % 4 {
				case 0:
					_, err = c.Get(ctx, e.key("list"))
					f.is("Get of a list", err, adapters.ErrReply)
				case 1:
					_, err = c.Get(ctx, k+"missing")
					f.is("Get of a missing key", err, adapters.ErrNil)
				default:
					how := execs[round%2]
					batch.Set(k+"batch", want)
					batch.Get(k + "batch")
					batch.Incr(k + "batch counter")
					batch.Get(k)
					f.ok(how.name, how.exec(batch, ctx))
					v, err = batch.Bytes(1)
					f.text("Bytes", v, err, want)
					n, err = batch.Int(2)
					f.got("Int", n, err, int64(round/4*2+round%4-1))
					v, err = batch.Bytes(3)
					f.text("Bytes", v, err, want)
					batch.Reset()
				}
			}
		})
	}
	close(start)
	wg.Wait()
	return f.err()
}

const (
	crowdSize   = 32
	crowdRounds = 10
)

// crowd shows a client concurrent use. rueidis and valkey send the command of
// a lone caller and await its reply at once, and pipeline from the first time
// on that two callers meet.
func (e *Env) crowd(ctx context.Context, c adapters.Client) error {
	var f findings
	k := e.key("crowd")
	f.ok("Set", c.Set(ctx, k, "v"))
	var wg sync.WaitGroup
	for range crowdSize {
		wg.Go(func() {
			for range crowdRounds {
				v, err := c.Get(ctx, k)
				f.text("Get", v, err, "v")
			}
		})
	}
	wg.Wait()
	return f.err()
}

// checkMultiplexed knows two ways to multiplex: commands are sent while the
// replies to others are awaited, or those that wait for a reply to others are
// then sent together. go-redis' AutoPipeline does the latter.
func checkMultiplexed(ctx context.Context, e *Env) error {
	const callers = 8
	proxy, cfg, err := e.fault(ctx)
	if err != nil {
		return err
	}
	direct, err := e.client(ctx)
	if err != nil {
		return err
	}
	before, err := e.Server.Counters(ctx)
	if err != nil {
		return err
	}
	if err := e.crowd(ctx, direct); err != nil {
		return err
	}
	after, err := e.Server.Counters(ctx)
	if err != nil {
		return err
	}
	if reads := after.Since(before).Reads; 0 < reads && reads < crowdSize*crowdRounds/2 {
		return nil
	}

	c, err := e.connect(ctx, Share, cfg, 0)
	if err != nil {
		return err
	}
	if err := e.crowd(ctx, c); err != nil {
		return err
	}
	if err := proxy.silence(ctx); err != nil {
		return err
	}
	if before, err = e.Server.Counters(ctx); err != nil {
		return err
	}
	for range callers {
		go c.Get(ctx, e.key("k"))
	}
	return e.counted(ctx, before, map[string]int64{"get": callers})
}

// checkLending keeps the connections of a pool busy with commands that block
// on the server, so that they can be freed one by one.
func checkLending(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	blocked := make(chan error, poolSize)
	for range poolSize {
		go func() { blocked <- second(c.Do(ctx, "BLPOP", e.key("queue"), "0")) }()
	}
	// A blocked call is counted when it ends, so look at what it does to
	// others: a connection that is taken cannot answer.
	time.Sleep(meanwhile)
	pinged := async(func() error { return c.Ping(ctx) })
	time.Sleep(meanwhile)
	select {
	case err := <-pinged:
		f.addf("Ping with %d of %d connections busy: returned %v, want it to wait", poolSize, poolSize, err)
	default:
		f.store(ctx, e, "RPUSH", e.key("queue"), "x")
		err, late := within("Ping with one connection free again", pinged)
		f.ok("Ping", errors.Join(err, late))
	}
	for range poolSize {
		f.store(ctx, e, "RPUSH", e.key("queue"), "x")
	}
	for range poolSize {
		err, late := within("BLPOP", blocked)
		f.ok("BLPOP", errors.Join(err, late))
	}
	return f.err()
}

func checkAsync(ctx context.Context, e *Env) error {
	const n = 40
	proxy, cfg, err := e.fault(ctx)
	if err != nil {
		return err
	}
	client, err := e.connect(ctx, Share, cfg, 0)
	if err != nil {
		return err
	}
	c, ok := client.(adapters.Async)
	if !ok {
		return fmt.Errorf("the client of Share: got %T, want an adapters.Async", client)
	}
	var f findings
	keys, values := make([]string, n), make([][]byte, n)
	for i := range keys {
		keys[i] = e.key(fmt.Sprint(i))
		f.store(ctx, e, "SET", keys[i], fmt.Sprint("value ", i))
	}
	expect := func() {
		for i := range keys {
			f.text("GetAll: value "+fmt.Sprint(i), values[i], nil, fmt.Sprint("value ", i))
		}
	}
	sent, err := e.calls(ctx, func() { f.ok("GetAll", c.GetAll(ctx, keys, values)) })
	f.got("GetAll: commands that reached the server", sent, err, map[string]int64{"get": n})
	expect()
	f.ok("GetAll of nothing", c.GetAll(ctx, nil, nil))

	// Two errors: the first in the order of the keys is returned, and all
	// other values are there.
	f.store(ctx, e, "DEL", keys[n/2])
	f.store(ctx, e, "DEL", keys[n/4])
	f.store(ctx, e, "RPUSH", keys[n/2], "x")
	clear(values)
	f.is("GetAll with a missing key before a list", c.GetAll(ctx, keys, values), adapters.ErrNil)
	for i := range keys {
		if i != n/2 && i != n/4 {
			f.text("GetAll with errors: value "+fmt.Sprint(i), values[i], nil, fmt.Sprint("value ", i))
		}
	}
	keys[n/4], keys[n/2] = keys[n/2], keys[n/4]
	f.is("GetAll with a list before a missing key", c.GetAll(ctx, keys, values), adapters.ErrReply)

	if err := proxy.silence(ctx); err != nil {
		return err
	}
	before, err := e.Server.Counters(ctx)
	if err != nil {
		return err
	}
	go c.GetAll(ctx, keys, values)
	f.ok("GetAll before the first reply", e.counted(ctx, before, map[string]int64{"get": n}))
	return f.err()
}
