package valkey

import (
	"context"
	"errors"
	"fmt"

	"github.com/valkey-io/valkey-go"

	"rcbench/adapters"
)

// A batch is one DoMulti. valkey-go recycles a command once it was sent, so the
// commands are built as they are queued, and Exec can send them only once.
type batch struct {
	conn    *Conn
	cmds    []valkey.Completed // the first is MULTI's place
	kinds   []kind             // of the others
	results []valkey.ValkeyResult
	sent    bool
}

// A kind is the reply that a queued command has.
type kind uint8

const (
	isBytes kind = iota
	isInt
	isOK
)

var _ adapters.Batch = (*batch)(nil)

func (c *client) NewBatch(n int) adapters.Batch {
	return &batch{
		conn:  c.conn,
		cmds:  make([]valkey.Completed, 1, n+2),
		kinds: make([]kind, 0, n),
	}
}

func (b *batch) queue(k kind, cmd valkey.Completed) {
	if b.sent {
		panic("valkey: Batch used after Exec without Reset")
	}
	b.cmds = append(b.cmds, cmd)
	b.kinds = append(b.kinds, k)
}

func (b *batch) Get(key string) {
	b.queue(isBytes, b.conn.B().Get().Key(key).Build())
}

func (b *batch) Set(key, value string) {
	b.queue(isOK, b.conn.B().Set().Key(key).Value(value).Build())
}

func (b *batch) Incr(key string) {
	b.queue(isInt, b.conn.B().Incr().Key(key).Build())
}

func (b *batch) HSet(key, field, value string) {
	b.queue(isInt, b.conn.B().Hset().Key(key).FieldValue().FieldValue(field, value).Build())
}

func (b *batch) RPush(key, value string) {
	b.queue(isInt, b.conn.B().Rpush().Key(key).Element(value).Build())
}

func (b *batch) SAdd(key, member string) {
	b.queue(isInt, b.conn.B().Sadd().Key(key).Member(member).Build())
}

func (b *batch) ZAdd(key string, score float64, member string) {
	b.queue(isInt, b.conn.B().Zadd().Key(key).ScoreMember().ScoreMember(score, member).Build())
}

func (b *batch) Len() int { return len(b.kinds) }

// send sends commands, which are then no more.
func (b *batch) send(ctx context.Context, cmds []valkey.Completed) []valkey.ValkeyResult {
	if b.sent {
		panic("valkey: second Exec of a Batch without Reset")
	}
	b.sent = true
	return b.conn.DoMulti(ctx, cmds...)
}

func (b *batch) Exec(ctx context.Context) error {
	if b.Len() == 0 {
		return nil
	}
	b.results = b.send(ctx, b.cmds[1:])
	return b.first()
}

// ExecTx sends the transaction as one DoMulti, which valkey-go writes without
// another command in between: a connection of the pool is its caller's alone,
// and the background pipeline queues a DoMulti as one entry of its ring.
//
// Note: README runs transactions on a DedicatedClient, for the sake of WATCH.
// That would be one more connection, from a pool that is otherwise not used.
func (b *batch) ExecTx(ctx context.Context) error {
	n := b.Len()
	if n == 0 {
		return nil
	}
	b.cmds[0] = b.conn.B().Multi().Build()
	replies := b.send(ctx, append(b.cmds, b.conn.B().Exec().Build()))
	b.results = replies[1 : n+1]
	values, err := executed(replies, n)
	for i := range b.results {
		if err != nil {
			b.results[i] = valkey.NewErrorResult(err)
		} else {
			b.results[i] = valkey.NewResult(values[i], nil)
		}
	}
	return b.first()
}

// executed returns the elements of EXEC's reply, or the error that ended the
// transaction: that of the first command which was not queued, else EXEC's.
func executed(replies []valkey.ValkeyResult, n int) ([]valkey.ValkeyMessage, error) {
	for _, queued := range replies[:n+1] {
		if err := queued.Error(); err != nil {
			return nil, err
		}
	}
	values, err := replies[n+1].ToArray()
	switch {
	case valkey.IsValkeyNil(err):
		return nil, errors.New("EXEC: a watched key was changed")
	case err != nil:
		return nil, err
	case len(values) != n:
		return nil, fmt.Errorf("EXEC: %d replies to %d commands", len(values), n)
	}
	return values, nil
}

// first returns the first error, a missing key aside.
func (b *batch) first() error {
	for i := range b.results {
		if err := b.Err(i); err != nil && err != adapters.ErrNil {
			return err
		}
	}
	return nil
}

func (b *batch) Bytes(i int) ([]byte, error) {
	v, err := b.results[i].AsBytes()
	return v, b.conn.Err(err)
}

func (b *batch) Int(i int) (int64, error) {
	n, err := b.results[i].ToInt64()
	return n, b.conn.Err(err)
}

func (b *batch) Err(i int) error {
	var err error
	switch b.kinds[i] {
	case isBytes:
		_, err = b.results[i].AsBytes()
	case isInt:
		_, err = b.results[i].ToInt64()
	case isOK:
		var s string
		if s, err = b.results[i].ToString(); err == nil && s != "OK" {
			return adapters.Unexpected("SET", s, "OK")
		}
	}
	return b.conn.Err(err)
}

func (b *batch) Reset() {
	b.cmds, b.kinds = b.cmds[:1], b.kinds[:0]
	b.results, b.sent = nil, false
}
