package resp

import (
	"context"
	"errors"
	"fmt"

	"rcbench/adapters"
)

// A batch keeps its commands encoded, so that Exec is one write and one read
// loop over the replies.
type batch struct {
	c       *client
	out     []byte
	kinds   []kind
	results []result // of the last Exec; nil before
}

// kind is the reply that a queued command has.
type kind uint8

const (
	isBulk kind = iota
	isInt
	isOK
)

type result struct {
	bytes []byte
	n     int64
	err   error
}

var _ adapters.Batch = (*batch)(nil)

func (c *client) NewBatch(n int) adapters.Batch {
	return &batch{c: c, kinds: make([]kind, 0, n)}
}

func (b *batch) queue(k kind, args ...string) {
	if len(b.results) > 0 {
		panic("resp: Batch used after Exec without Reset")
	}
	b.out = appendCommand(b.out, args...)
	b.kinds = append(b.kinds, k)
}

func (b *batch) Get(key string)                { b.queue(isBulk, "GET", key) }
func (b *batch) Set(key, value string)         { b.queue(isOK, "SET", key, value) }
func (b *batch) Incr(key string)               { b.queue(isInt, "INCR", key) }
func (b *batch) HSet(key, field, value string) { b.queue(isInt, "HSET", key, field, value) }
func (b *batch) RPush(key, value string)       { b.queue(isInt, "RPUSH", key, value) }
func (b *batch) SAdd(key, member string)       { b.queue(isInt, "SADD", key, member) }

func (b *batch) ZAdd(key string, score float64, member string) {
	b.queue(isInt, "ZADD", key, formatScore(score), member)
}

func (b *batch) Len() int { return len(b.kinds) }

// begin says whether there is something to execute.
func (b *batch) begin() bool {
	if len(b.results) > 0 {
		panic("resp: second Exec of a Batch without Reset")
	}
	return len(b.kinds) > 0
}

func (b *batch) Exec(ctx context.Context) error {
	if !b.begin() {
		return nil
	}
	w, err := b.c.take(ctx)
	if err != nil {
		return b.abort(err)
	}
	w.send(b.out)
	return b.c.give(ctx, w, b.read(w))
}

func (b *batch) ExecTx(ctx context.Context) error {
	if !b.begin() {
		return nil
	}
	w, err := b.c.take(ctx)
	if err != nil {
		return b.abort(err)
	}
	w.command("MULTI")
	w.out = append(w.out, b.out...)
	w.command("EXEC")
	w.flush()
	return b.c.give(ctx, w, b.readTx(w))
}

// read reads one reply for each command.
func (b *batch) read(w *wire) error {
	var first error
	for _, k := range b.kinds {
		var r result
		switch k {
		case isBulk:
			r.bytes, r.err = w.bulk()
		case isInt:
			r.n, r.err = w.int()
		case isOK:
			r.err = w.status("OK")
		}
		b.results = append(b.results, r)
		if r.err != nil && first == nil && !errors.Is(r.err, adapters.ErrNil) {
			first = r.err
		}
	}
	return first
}

// readTx reads MULTI's OK, QUEUED for each command, and EXEC's array.
func (b *batch) readTx(w *wire) error {
	first := w.status("OK")
	for range b.kinds {
		if err := w.status("QUEUED"); err != nil && first == nil {
			first = err
		}
	}
	n, err := w.array()
	switch {
	case first != nil:
		return b.abort(first) // EXEC answered EXECABORT
	case err != nil:
		return b.abort(err)
	case n != int64(len(b.kinds)):
		return b.abort(w.fail(fmt.Errorf("EXEC: %d replies to %d commands", n, len(b.kinds))))
	}
	return b.read(w)
}

// abort gives every command the error that ended all of them.
func (b *batch) abort(err error) error {
	for range b.kinds {
		b.results = append(b.results, result{err: err})
	}
	return err
}

func (b *batch) Bytes(i int) ([]byte, error) { return b.results[i].bytes, b.results[i].err }
func (b *batch) Int(i int) (int64, error)    { return b.results[i].n, b.results[i].err }
func (b *batch) Err(i int) error             { return b.results[i].err }

func (b *batch) Reset() {
	clear(b.results) // the values are the caller's now
	b.out, b.kinds, b.results = b.out[:0], b.kinds[:0], b.results[:0]
}
