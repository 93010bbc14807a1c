package redigo

import (
	"context"

	"github.com/gomodule/redigo/redis"

	"rcbench/adapters"
)

// batch keeps its commands until Exec, which then sends them as redigo
// documents a pipeline: Send each, Flush, Receive each.
//
// Note: to Send when a command is queued is nearer to how redigo is used, but
// Send writes to the connection's buffer at once. MULTI would be too late at
// ExecTx, Reset would have to close the connection, and a pool would lack it
// for as long as the caller takes. A queued command is a record of strings
// that the next round uses again, so all that is allocated for it is what Send
// and Receive allocate anyway.
type batch struct {
	c       *client
	queue   []command
	replies []any // as received; an error reply is a redis.Error
	err     error // why there are no replies
	done    bool  // executed and not yet Reset
}

var _ adapters.Batch = (*batch)(nil)

// command is a queued command; kind says which fields it uses.
type command struct {
	kind      kind
	key, a, b string
	score     float64
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
	return &batch{c: c, queue: make([]command, 0, n), replies: make([]any, 0, n+2)}
}

func (b *batch) add(cmd command) {
	if b.done {
		panic("redigo: Batch used after Exec without Reset")
	}
	b.queue = append(b.queue, cmd)
}

func (b *batch) Get(key string)          { b.add(command{kind: get, key: key}) }
func (b *batch) Set(key, value string)   { b.add(command{kind: set, key: key, a: value}) }
func (b *batch) Incr(key string)         { b.add(command{kind: incr, key: key}) }
func (b *batch) RPush(key, value string) { b.add(command{kind: rpush, key: key, a: value}) }
func (b *batch) SAdd(key, member string) { b.add(command{kind: sadd, key: key, a: member}) }

func (b *batch) HSet(key, field, value string) {
	b.add(command{kind: hset, key: key, a: field, b: value})
}

func (b *batch) ZAdd(key string, score float64, member string) {
	b.add(command{kind: zadd, key: key, score: score, a: member})
}

func (cmd *command) send(conn redis.Conn) error {
	switch name := names[cmd.kind]; cmd.kind {
	case get, incr:
		return conn.Send(name, cmd.key)
	case hset:
		return conn.Send(name, cmd.key, cmd.a, cmd.b)
	case zadd:
		return conn.Send(name, cmd.key, cmd.score, cmd.a)
	default:
		return conn.Send(name, cmd.key, cmd.a)
	}
}

func (b *batch) Len() int { return len(b.queue) }

func (b *batch) Exec(ctx context.Context) error { return b.run(ctx, false) }

func (b *batch) ExecTx(ctx context.Context) error { return b.run(ctx, true) }

func (b *batch) run(ctx context.Context, tx bool) error {
	if len(b.queue) == 0 {
		return nil
	}
	if b.done {
		panic("redigo: second Exec of a Batch without Reset")
	}
	b.done = true
	if b.err = b.exchange(ctx, tx); b.err == nil && tx {
		b.err = b.unpack()
	}
	if b.err != nil {
		return b.err
	}
	for i := range b.queue {
		if err := b.Err(i); err != nil && err != adapters.ErrNil {
			return err
		}
	}
	return nil
}

// exchange sends the queue and receives all replies, those of MULTI and EXEC
// included.
func (b *batch) exchange(ctx context.Context, tx bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	conn, err := b.c.get(ctx)
	if err != nil {
		return err
	}
	defer b.c.put(conn)
	if err := b.send(conn, tx); err != nil {
		return b.c.failed(ctx, err)
	}
	if ctx.Done() == nil {
		err = b.receive(conn, tx)
	} else {
		// Do of no command flushes and receives what is pending.
		// ReceiveContext would start a goroutine for each reply.
		b.replies, err = redis.Values(redis.DoContext(conn, ctx, ""))
	}
	if err != nil {
		return b.c.failed(ctx, err)
	}
	return nil
}

func (b *batch) send(conn redis.Conn, tx bool) error {
	if tx {
		if err := conn.Send("MULTI"); err != nil {
			return err
		}
	}
	for i := range b.queue {
		if err := b.queue[i].send(conn); err != nil {
			return err
		}
	}
	if tx {
		return conn.Send("EXEC")
	}
	return nil
}

func (b *batch) receive(conn redis.Conn, tx bool) error {
	if err := conn.Flush(); err != nil {
		return err
	}
	n := len(b.queue)
	if tx {
		n += 2
	}
	for range n {
		v, err := conn.Receive()
		if e, ok := err.(redis.Error); ok {
			v = e
		} else if err != nil {
			return err
		}
		b.replies = append(b.replies, v)
	}
	return nil
}

// unpack leaves the replies in EXEC's array, or returns why there is none.
//
// Do("EXEC"), with which redigo documents a transaction, would drop the
// replies in between: which command was refused could not be told.
func (b *batch) unpack() error {
	n := len(b.queue)
	queued, exec := b.replies[:n+1], b.replies[n+1] // MULTI's OK is the first
	switch v := exec.(type) {
	case []any:
		if len(v) != n {
			return adapters.Unexpected("EXEC", len(v), n)
		}
		copy(b.replies, v)
		b.replies = b.replies[:n]
		return nil
	case redis.Error:
		for _, q := range queued {
			if e, ok := q.(redis.Error); ok {
				return reply(e) // EXEC only says that there was one
			}
		}
		return reply(v)
	default:
		return adapters.Unexpected("EXEC", v, "an array")
	}
}

func (b *batch) Bytes(i int) ([]byte, error) {
	if b.err != nil {
		return nil, b.err
	}
	v, err := redis.Bytes(b.replies[i], nil)
	return v, reply(err)
}

func (b *batch) Int(i int) (int64, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := redis.Int64(b.replies[i], nil)
	return n, reply(err)
}

func (b *batch) Err(i int) error {
	if b.err != nil {
		return b.err
	}
	var err error
	switch v := b.replies[i]; b.queue[i].kind {
	case get:
		_, err = redis.Bytes(v, nil)
	case set:
		if e, ok := v.(redis.Error); ok {
			return reply(e)
		}
		return is("SET", v, "OK")
	default:
		_, err = redis.Int64(v, nil)
	}
	return reply(err)
}

func (b *batch) Reset() {
	clear(b.queue)
	clear(b.replies)
	b.queue, b.replies = b.queue[:0], b.replies[:0]
	b.err, b.done = nil, false
}
