package rueidiscompat

import (
	"context"
	"errors"

	"github.com/redis/rueidis/rueidiscompat"

	"rcbench/adapters"
)

// A batch is one Pipeline or one TxPipeline. These are two types that are
// filled by the same methods, and which of them it is to be is known only to
// Exec and ExecTx, so the commands wait in a list of their own until then.
type batch struct {
	c     *client
	queue []queued
	cmds  []rueidiscompat.Cmder // of the last Exec
	sent  bool
}

// queued is one command with its arguments.
type queued struct {
	op         op
	key, field string
	value      string
	score      float64
}

type op uint8

const (
	opGet op = iota
	opSet
	opIncr
	opHSet
	opRPush
	opSAdd
	opZAdd
)

var _ adapters.Batch = (*batch)(nil)

func (c *client) NewBatch(n int) adapters.Batch {
	return &batch{c: c, queue: make([]queued, 0, n)}
}

func (b *batch) add(q queued) {
	if b.sent {
		panic("rueidiscompat: Batch used after Exec without Reset")
	}
	b.queue = append(b.queue, q)
}

func (b *batch) Get(key string)          { b.add(queued{op: opGet, key: key}) }
func (b *batch) Set(key, value string)   { b.add(queued{op: opSet, key: key, value: value}) }
func (b *batch) Incr(key string)         { b.add(queued{op: opIncr, key: key}) }
func (b *batch) RPush(key, value string) { b.add(queued{op: opRPush, key: key, value: value}) }
func (b *batch) SAdd(key, member string) { b.add(queued{op: opSAdd, key: key, value: member}) }

func (b *batch) HSet(key, field, value string) {
	b.add(queued{op: opHSet, key: key, field: field, value: value})
}

func (b *batch) ZAdd(key string, score float64, member string) {
	b.add(queued{op: opZAdd, key: key, value: member, score: score})
}

func (b *batch) Len() int { return len(b.queue) }

func (b *batch) Exec(ctx context.Context) error {
	return b.exec(ctx, b.c.api.Pipeline())
}

func (b *batch) ExecTx(ctx context.Context) error {
	return b.exec(ctx, b.c.api.TxPipeline())
}

func (b *batch) exec(ctx context.Context, pipe rueidiscompat.Pipeliner) error {
	if b.sent {
		panic("rueidiscompat: second Exec of a Batch without Reset")
	}
	if len(b.queue) == 0 {
		return nil
	}
	b.sent = true
	var unsent error // What a command answers that has no reply yet.
	for i := range b.queue {
		unsent = b.queue[i].send(ctx, pipe).Err()
	}
	cmds, err := pipe.Exec(ctx)
	if err == nil {
		err = errors.New("rueidiscompat: EXEC answered too few replies")
	}
	b.cmds = cmds
	for _, cmd := range cmds { // A TxPipeline that failed as a whole leaves them as they were.
		if cmd.Err() == unsent {
			cmd.SetErr(err)
		}
	}
	for i := range cmds {
		if err := b.Err(i); err != nil && err != adapters.ErrNil {
			return err
		}
	}
	return nil
}

// send queues the command in pipe.
func (q *queued) send(ctx context.Context, pipe rueidiscompat.Pipeliner) rueidiscompat.Cmder {
	switch q.op {
	case opGet:
		return pipe.Get(ctx, q.key)
	case opSet:
		return pipe.Set(ctx, q.key, q.value, 0)
	case opIncr:
		return pipe.Incr(ctx, q.key)
	case opHSet:
		return pipe.HSet(ctx, q.key, q.field, q.value)
	case opRPush:
		return pipe.RPush(ctx, q.key, q.value)
	case opSAdd:
		return pipe.SAdd(ctx, q.key, q.value)
	default: // opZAdd
		return pipe.ZAdd(ctx, q.key, rueidiscompat.Z{Score: q.score, Member: q.value})
	}
}

func (b *batch) Bytes(i int) ([]byte, error) {
	return b.c.bytes(b.cmds[i].(*rueidiscompat.StringCmd))
}

func (b *batch) Int(i int) (int64, error) {
	return b.c.int(b.cmds[i].(*rueidiscompat.IntCmd))
}

func (b *batch) Err(i int) error {
	if b.queue[i].op == opSet {
		return b.c.ok("SET", "OK", b.cmds[i].(*rueidiscompat.StatusCmd))
	}
	return b.c.conn.Err(b.cmds[i].Err())
}

func (b *batch) Reset() {
	clear(b.queue)
	b.queue = b.queue[:0]
	b.cmds, b.sent = nil, false
}
