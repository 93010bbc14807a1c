package adaptertest

import (
	"context"
	"errors"
	"sync"

	"rcbench/adapters"
	"rcbench/adapters/resp"
)

// The batches of the broken drivers.

type oneMore struct{ adapters.Batch }

func (b oneMore) Int(i int) (int64, error) {
	n, err := b.Batch.Int(i)
	return n + 1, err
}

type allOrNothing struct {
	adapters.Batch
	failed error
}

func (b *allOrNothing) keep(err error) error {
	b.failed = err
	return err
}

func (b *allOrNothing) Exec(ctx context.Context) error   { return b.keep(b.Batch.Exec(ctx)) }
func (b *allOrNothing) ExecTx(ctx context.Context) error { return b.keep(b.Batch.ExecTx(ctx)) }

func (b *allOrNothing) Bytes(i int) ([]byte, error) {
	if b.failed != nil {
		return nil, b.failed
	}
	return b.Batch.Bytes(i)
}

type chatty struct {
	adapters.Batch
	c adapters.Client
}

func (b chatty) Exec(ctx context.Context) error {
	if b.Len() == 0 {
		return b.c.Ping(ctx)
	}
	return b.Batch.Exec(ctx)
}

type lenient struct{ adapters.Batch }

func (b lenient) Get(key string) {
	defer func() { _ = recover() }()
	b.Batch.Get(key)
}

// resends does not mind a second Exec.
type resends struct{ adapters.Batch }

func (b resends) Exec(ctx context.Context) (err error) {
	defer func() { _ = recover() }()
	return b.Batch.Exec(ctx)
}

type limited struct{ adapters.Batch }

func (b limited) Exec(ctx context.Context) error {
	if b.Len() > 512 {
		return errors.New("the pipeline is too long")
	}
	return b.Batch.Exec(ctx)
}

// holdsOn has its connection to itself from Exec to Reset, which only Ping
// notices.
type holdsOn struct {
	adapters.Client
	held sync.RWMutex
}

func (c *holdsOn) Ping(ctx context.Context) error {
	c.held.Lock()
	defer c.held.Unlock()
	return c.Client.Ping(ctx)
}

func (c *holdsOn) NewBatch(n int) adapters.Batch {
	return &holdingBatch{Batch: c.Client.NewBatch(n), held: &c.held}
}

type holdingBatch struct {
	adapters.Batch
	held  *sync.RWMutex
	holds bool
}

func (b *holdingBatch) Exec(ctx context.Context) error {
	if !b.holds && b.Len() > 0 {
		b.held.RLock()
		b.holds = true
	}
	return b.Batch.Exec(ctx)
}

func (b *holdingBatch) Reset() {
	if b.holds {
		b.held.RUnlock()
		b.holds = false
	}
	b.Batch.Reset()
}

type untransacted struct{ adapters.Batch }

func (b untransacted) ExecTx(ctx context.Context) error { return b.Exec(ctx) }

// elsewhere sends EXEC on a connection of its own.
type elsewhere struct {
	adapters.Client
	cfg adapters.Config
}

func (c elsewhere) Do(ctx context.Context, args ...string) (any, error) {
	if args[0] != "EXEC" {
		return c.Client.Do(ctx, args...)
	}
	other, err := resp.Driver.Dial(ctx, c.cfg)
	if err != nil {
		return nil, err
	}
	defer other.Close()
	return other.Do(ctx, args...)
}

// stepwise sends the commands of Exec one after another. The embedded batch
// serves ExecTx, and knows when queueing must panic.
type stepwise struct {
	adapters.Batch
	c     adapters.Client
	queue []func(adapters.Batch)
	done  []adapters.Batch
	ran   bool // one of Exec and ExecTx
}

func (b *stepwise) add(queue func(adapters.Batch)) {
	if b.done != nil {
		panic("used after Exec")
	}
	queue(b.Batch)
	b.queue = append(b.queue, queue)
}

func (b *stepwise) Get(key string)        { b.add(func(b adapters.Batch) { b.Get(key) }) }
func (b *stepwise) Set(key, value string) { b.add(func(b adapters.Batch) { b.Set(key, value) }) }
func (b *stepwise) Incr(key string)       { b.add(func(b adapters.Batch) { b.Incr(key) }) }
func (b *stepwise) RPush(key, v string)   { b.add(func(b adapters.Batch) { b.RPush(key, v) }) }
func (b *stepwise) SAdd(key, m string)    { b.add(func(b adapters.Batch) { b.SAdd(key, m) }) }
func (b *stepwise) HSet(key, field, v string) {
	b.add(func(b adapters.Batch) { b.HSet(key, field, v) })
}
func (b *stepwise) ZAdd(key string, score float64, m string) {
	b.add(func(b adapters.Batch) { b.ZAdd(key, score, m) })
}

func (b *stepwise) run() {
	if b.ran {
		panic("executed twice")
	}
	b.ran = len(b.queue) > 0
}

func (b *stepwise) ExecTx(ctx context.Context) error {
	b.run()
	return b.Batch.ExecTx(ctx)
}

func (b *stepwise) Exec(ctx context.Context) error {
	b.run()
	var first error
	for _, queue := range b.queue {
		one := b.c.NewBatch(1)
		queue(one)
		if err := one.Exec(ctx); err != nil && first == nil {
			first = err
		}
		b.done = append(b.done, one)
	}
	return first
}

func (b *stepwise) Bytes(i int) ([]byte, error) {
	if b.done != nil {
		return b.done[i].Bytes(0)
	}
	return b.Batch.Bytes(i)
}

func (b *stepwise) Int(i int) (int64, error) {
	if b.done != nil {
		return b.done[i].Int(0)
	}
	return b.Batch.Int(i)
}

func (b *stepwise) Err(i int) error {
	if b.done != nil {
		return b.done[i].Err(0)
	}
	return b.Batch.Err(i)
}

func (b *stepwise) Reset() {
	b.queue, b.done, b.ran = nil, nil, false
	b.Batch.Reset()
}

type sendsOnReset struct {
	adapters.Batch
	executed bool
}

func (b *sendsOnReset) Exec(ctx context.Context) error {
	b.executed = true
	return b.Batch.Exec(ctx)
}

func (b *sendsOnReset) ExecTx(ctx context.Context) error {
	b.executed = true
	return b.Batch.ExecTx(ctx)
}

func (b *sendsOnReset) Reset() {
	if !b.executed {
		_ = b.Batch.Exec(context.Background())
	}
	b.executed = false
	b.Batch.Reset()
}
