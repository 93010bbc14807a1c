package radix

import (
	"context"

	"github.com/mediocregopher/radix/v4"
	"github.com/mediocregopher/radix/v4/resp"

	"rcbench/adapters"
)

// batch keeps its commands until Exec, which makes a radix.Pipeline of them.
//
// Note: to Append when a command is queued would do for Exec. But a receiver
// must stay where it is once it is appended, which is known of the slots when
// there are no more to come; and in a transaction a command has two replies,
// QUEUED and, in the array of EXEC, its own.
type batch struct {
	c        *client
	queue    []command
	pipeline *radix.Pipeline
	slots    []slot      // the replies, by command
	exec     radix.Tuple // the slots again, as the receivers of EXEC's array
	err      error       // why there are no replies
	done     bool        // executed and not yet Reset
}

var _ adapters.Batch = (*batch)(nil)

// command is a queued command; kind says which fields it uses.
type command struct {
	kind      kind
	key, a, b string
}

type kind uint8

const (
	get kind = iota
	set
	incr
	hset
	rpush
	sadd
	zadd
)

var names = [...]string{"GET", "SET", "INCR", "HSET", "RPUSH", "SADD", "ZADD"}

func (c *client) NewBatch(n int) adapters.Batch {
	return &batch{c: c, queue: make([]command, 0, n), pipeline: radix.NewPipeline(), slots: make([]slot, 0, n)}
}

func (b *batch) add(k kind, key, a, b2 string) {
	if b.done {
		panic("radix: Batch used after Exec without Reset")
	}
	b.queue = append(b.queue, command{k, key, a, b2})
}

func (b *batch) Get(key string)                { b.add(get, key, "", "") }
func (b *batch) Set(key, value string)         { b.add(set, key, value, "") }
func (b *batch) Incr(key string)               { b.add(incr, key, "", "") }
func (b *batch) HSet(key, field, value string) { b.add(hset, key, field, value) }
func (b *batch) RPush(key, value string)       { b.add(rpush, key, value, "") }
func (b *batch) SAdd(key, member string)       { b.add(sadd, key, member, "") }

func (b *batch) ZAdd(key string, score float64, member string) {
	b.add(zadd, key, formatScore(score), member)
}

func (cmd *command) action(rcv any) radix.Action {
	switch name := names[cmd.kind]; cmd.kind {
	case get, incr:
		return radix.Cmd(rcv, name, cmd.key)
	case hset, zadd:
		return radix.Cmd(rcv, name, cmd.key, cmd.a, cmd.b)
	default:
		return radix.Cmd(rcv, name, cmd.key, cmd.a)
	}
}

// slot receives the reply of one command. An error reply is kept here: the
// Pipeline would return the first one only, and not say whose it is.
type slot struct {
	kind  kind
	bytes []byte
	n     int64
	err   error
}

func (s *slot) UnmarshalRESP(br resp.BufferedReader, o *resp.Opts) error {
	switch s.kind {
	case get:
		return unmarshal(br, &s.bytes, o, &s.err)
	case set:
		err := unmarshal(br, &s.bytes, o, &s.err)
		if err == nil && s.err == nil && string(s.bytes) != "OK" {
			s.err = adapters.Unexpected("SET", string(s.bytes), "OK")
		}
		return err
	default:
		return unmarshal(br, &s.n, o, &s.err)
	}
}

// queued receives what MULTI has a command answer first. Only an error is of
// interest; that the commands were run, EXEC will show.
type queued slot

func (q *queued) UnmarshalRESP(br resp.BufferedReader, o *resp.Opts) error {
	return unmarshal(br, nil, o, &q.err)
}

func (b *batch) Len() int { return len(b.queue) }

func (b *batch) Exec(ctx context.Context) error {
	return b.run(ctx, func() {
		for i := range b.queue {
			b.pipeline.Append(b.queue[i].action(&b.slots[i]))
		}
	})
}

// ExecTx has the transaction in one Pipeline. The documentation of Pipeline
// advises against that, because an error would leave the transaction open.
// Here EXEC is in the same write, and strings cannot fail to be marshaled; and
// WithConn, which it advises instead, would stop all other callers of a Pool
// until they have none of its connections in use.
func (b *batch) ExecTx(ctx context.Context) error {
	return b.run(ctx, func() {
		b.pipeline.Append(radix.Cmd(nil, "MULTI"))
		b.exec = b.exec[:0]
		for i := range b.queue {
			b.pipeline.Append(b.queue[i].action((*queued)(&b.slots[i])))
			b.exec = append(b.exec, &b.slots[i])
		}
		b.pipeline.Append(radix.Cmd(&b.exec, "EXEC"))
	})
}

func (b *batch) run(ctx context.Context, fill func()) error {
	if len(b.queue) == 0 {
		return nil
	}
	if b.done {
		panic("radix: second Exec of a Batch without Reset")
	}
	b.done = true
	for i := range b.queue {
		b.slots = append(b.slots, slot{kind: b.queue[i].kind})
	}
	fill()
	if err := b.c.do(ctx, b.pipeline); err != nil {
		b.err = b.refused(err)
		// radix may still be reading replies into all of this.
		b.pipeline, b.slots, b.exec = radix.NewPipeline(), nil, nil
		return b.err
	}
	for i := range b.slots {
		if s := &b.slots[i]; s.err != nil {
			return b.c.failed(s.err)
		}
	}
	return nil
}

// refused returns the error of the command for which EXEC, with err, has
// refused the transaction; err if there is none.
func (b *batch) refused(err error) error {
	if _, ok := err.(adapters.ReplyError); !ok {
		return err // not answered, or not to the end
	}
	for i := range b.slots {
		if e := b.slots[i].err; e != nil {
			return b.c.failed(e)
		}
	}
	return err
}

func (b *batch) Bytes(i int) ([]byte, error) {
	if err := b.Err(i); err != nil {
		return nil, err
	}
	return b.slots[i].bytes, nil
}

func (b *batch) Int(i int) (int64, error) {
	if err := b.Err(i); err != nil {
		return 0, err
	}
	return b.slots[i].n, nil
}

func (b *batch) Err(i int) error {
	if b.err != nil {
		return b.err
	}
	s := &b.slots[i]
	if s.err != nil {
		return b.c.failed(s.err)
	}
	if s.kind == get && s.bytes == nil {
		return adapters.ErrNil
	}
	return nil
}

func (b *batch) Reset() {
	b.pipeline.Reset()
	clear(b.queue)
	clear(b.slots)
	clear(b.exec)
	b.queue, b.slots, b.exec = b.queue[:0], b.slots[:0], b.exec[:0]
	b.err, b.done = nil, false
}
