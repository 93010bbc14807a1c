package goredis

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"rcbench/adapters"
)

// batch queues on a pipeline of go-redis, whose commands carry their own
// results. It takes no connection before Exec.
type batch struct {
	c    *Commands
	pipe redis.Pipeliner
	tx   redis.Pipeliner // nil before the first ExecTx
	cmds []redis.Cmder   // with their results; nil before Exec
	n    int             // queued commands, also after Exec
	done bool            // executed and not yet Reset
}

var _ adapters.Batch = (*batch)(nil)

// NewBatch ignores the hint: a pipeline has no way to be told, and forgets its
// memory on every Exec.
func (c *Commands) NewBatch(int) adapters.Batch {
	return &batch{c: c, pipe: c.via.Pipeline()}
}

// background is the context of a queued command; the pipeline uses the one
// given to Exec.
var background = context.Background()

// queue counts a command, and returns where it goes.
func (b *batch) queue() redis.Pipeliner {
	if b.done {
		panic(b.c.name + ": Batch used after Exec without Reset")
	}
	b.n++
	return b.pipe
}

func (b *batch) Get(key string)                { b.queue().Get(background, key) }
func (b *batch) Set(key, value string)         { b.queue().Set(background, key, value, 0) }
func (b *batch) Incr(key string)               { b.queue().Incr(background, key) }
func (b *batch) HSet(key, field, value string) { b.queue().HSet(background, key, field, value) }
func (b *batch) RPush(key, value string)       { b.queue().RPush(background, key, value) }
func (b *batch) SAdd(key, member string)       { b.queue().SAdd(background, key, member) }

func (b *batch) ZAdd(key string, score float64, member string) {
	b.queue().ZAdd(background, key, redis.Z{Score: score, Member: member})
}

func (b *batch) Len() int { return b.n }

// begin says whether there is something to execute.
func (b *batch) begin() bool {
	if b.done {
		panic(b.c.name + ": second Exec of a Batch without Reset")
	}
	b.done = b.n > 0
	return b.done
}

func (b *batch) Exec(ctx context.Context) error {
	if !b.begin() {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return b.abort(err)
	}
	var err error
	b.cmds, err = b.pipe.Exec(ctx)
	return b.first(err)
}

// ExecTx moves the commands to a TxPipeline, because go-redis has to know of
// the transaction before the first command is queued, and a Batch does not.
// This copies one slice of pointers, and saves as much: the pipeline keeps
// its memory on Discard.
func (b *batch) ExecTx(ctx context.Context) error {
	if !b.begin() {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return b.abort(err)
	}
	if b.tx == nil {
		b.tx = b.c.via.TxPipeline()
	}
	err := b.tx.BatchProcess(ctx, b.pipe.Cmds()...)
	b.pipe.Discard()
	if err == nil {
		b.cmds, err = b.tx.Exec(ctx)
	}
	return b.first(err)
}

// abort gives every command the error that kept the batch from being sent.
func (b *batch) abort(err error) error {
	b.cmds = b.pipe.Cmds()
	for _, cmd := range b.cmds {
		cmd.SetErr(err)
	}
	b.pipe.Discard()
	return b.c.fail(err)
}

// first is the first error in the order of the commands. Exec returns one too,
// but counts a missing key.
func (b *batch) first(exec error) error {
	for i := range b.cmds {
		if err := b.Err(i); err != nil && !errors.Is(err, adapters.ErrNil) {
			return err
		}
	}
	if exec != nil && !errors.Is(exec, redis.Nil) {
		return b.c.fail(exec)
	}
	return nil
}

func (b *batch) Bytes(i int) ([]byte, error) { return b.c.Value(b.cmds[i].(*redis.StringCmd)) }
func (b *batch) Int(i int) (int64, error)    { return b.c.int(b.cmds[i].(*redis.IntCmd)) }

func (b *batch) Err(i int) error {
	if set, ok := b.cmds[i].(*redis.StatusCmd); ok {
		return b.c.status(set, "SET", "OK")
	}
	return b.c.fail(b.cmds[i].Err())
}

func (b *batch) Reset() {
	b.pipe.Discard()
	b.cmds, b.n, b.done = nil, 0, false
}
