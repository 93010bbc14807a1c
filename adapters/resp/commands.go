package resp

import (
	"context"
	"strconv"

	"rcbench/adapters"
)

// Each command appends itself, sends it with one write and reads the one kind
// of reply that it has. args never escape, so a command allocates only what
// it returns.

func (c *client) bulk(ctx context.Context, args ...string) ([]byte, error) {
	w, err := c.take(ctx)
	if err != nil {
		return nil, err
	}
	w.command(args...)
	w.flush()
	v, err := w.bulk()
	return v, c.give(ctx, w, err)
}

func (c *client) int(ctx context.Context, args ...string) (int64, error) {
	w, err := c.take(ctx)
	if err != nil {
		return 0, err
	}
	w.command(args...)
	w.flush()
	n, err := w.int()
	return n, c.give(ctx, w, err)
}

func (c *client) status(ctx context.Context, want string, args ...string) error {
	w, err := c.take(ctx)
	if err != nil {
		return err
	}
	w.command(args...)
	w.flush()
	return c.give(ctx, w, w.status(want))
}

// list is int for a command with a key and a list of arguments.
func (c *client) list(ctx context.Context, name, key string, args []string) (int64, error) {
	w, err := c.take(ctx)
	if err != nil {
		return 0, err
	}
	w.out = appendHeader(w.out, '*', 2+len(args))
	w.out = appendBulk(w.out, name)
	w.out = appendBulk(w.out, key)
	for _, a := range args {
		w.out = appendBulk(w.out, a)
	}
	w.flush()
	n, err := w.int()
	return n, c.give(ctx, w, err)
}

func (c *client) Ping(ctx context.Context) error { return c.status(ctx, "PONG", "PING") }

func (c *client) Get(ctx context.Context, key string) ([]byte, error) {
	return c.bulk(ctx, "GET", key)
}

func (c *client) Set(ctx context.Context, key, value string) error {
	return c.status(ctx, "OK", "SET", key, value)
}

func (c *client) Incr(ctx context.Context, key string) (int64, error) {
	return c.int(ctx, "INCR", key)
}

func (c *client) Strlen(ctx context.Context, key string) (int64, error) {
	return c.int(ctx, "STRLEN", key)
}

func (c *client) MSet(ctx context.Context, pairs ...string) error {
	w, err := c.take(ctx)
	if err != nil {
		return err
	}
	w.out = appendHeader(w.out, '*', 1+len(pairs))
	w.out = appendBulk(w.out, "MSET")
	for _, p := range pairs {
		w.out = appendBulk(w.out, p)
	}
	w.flush()
	return c.give(ctx, w, w.status("OK"))
}

func (c *client) Del(ctx context.Context, keys ...string) (int64, error) {
	if len(keys) == 0 {
		return c.int(ctx, "DEL")
	}
	return c.list(ctx, "DEL", keys[0], keys[1:])
}

func (c *client) HSet(ctx context.Context, key string, fields ...string) (int64, error) {
	return c.list(ctx, "HSET", key, fields)
}

func (c *client) LPush(ctx context.Context, key string, values ...string) (int64, error) {
	return c.list(ctx, "LPUSH", key, values)
}

func (c *client) RPush(ctx context.Context, key string, values ...string) (int64, error) {
	return c.list(ctx, "RPUSH", key, values)
}

func (c *client) LPop(ctx context.Context, key string) ([]byte, error) {
	return c.bulk(ctx, "LPOP", key)
}

func (c *client) RPop(ctx context.Context, key string) ([]byte, error) {
	return c.bulk(ctx, "RPOP", key)
}

func (c *client) LRange(ctx context.Context, key string, start, stop int64) ([]string, error) {
	w, err := c.take(ctx)
	if err != nil {
		return nil, err
	}
	w.command("LRANGE", key, strconv.FormatInt(start, 10), strconv.FormatInt(stop, 10))
	w.flush()
	elems, err := w.strings()
	return elems, c.give(ctx, w, err)
}

func (c *client) SAdd(ctx context.Context, key string, members ...string) (int64, error) {
	return c.list(ctx, "SADD", key, members)
}

func (c *client) SPop(ctx context.Context, key string) ([]byte, error) {
	return c.bulk(ctx, "SPOP", key)
}

func (c *client) ZAdd(ctx context.Context, key string, members ...adapters.Scored) (int64, error) {
	w, err := c.take(ctx)
	if err != nil {
		return 0, err
	}
	w.out = appendHeader(w.out, '*', 2+2*len(members))
	w.out = appendBulk(w.out, "ZADD")
	w.out = appendBulk(w.out, key)
	for _, m := range members {
		w.out = appendBulk(w.out, formatScore(m.Score))
		w.out = appendBulk(w.out, m.Member)
	}
	w.flush()
	n, err := w.int()
	return n, c.give(ctx, w, err)
}

func (c *client) ZPopMin(ctx context.Context, key string) (adapters.Scored, error) {
	w, err := c.take(ctx)
	if err != nil {
		return adapters.Scored{}, err
	}
	w.command("ZPOPMIN", key)
	w.flush()
	m, err := w.scored()
	return m, c.give(ctx, w, err)
}

func (c *client) Do(ctx context.Context, args ...string) (any, error) {
	w, err := c.take(ctx)
	if err != nil {
		return nil, err
	}
	w.command(args...)
	w.flush()
	v, err := w.any()
	return v, c.give(ctx, w, err)
}

// formatScore is the shortest decimal that reads back as the same number.
func formatScore(score float64) string { return strconv.FormatFloat(score, 'g', -1, 64) }

// strings reads an array of bulks.
func (w *wire) strings() ([]string, error) {
	n, err := w.array()
	if err != nil {
		return nil, err
	}
	elems := make([]string, 0, min(n, elemsAhead))
	for range n {
		v, err := w.bulk()
		if err != nil {
			return nil, w.fail(err)
		}
		elems = append(elems, string(v))
	}
	return elems, nil
}

// scored reads ZPOPMIN's reply: member and score, or nothing.
func (w *wire) scored() (adapters.Scored, error) {
	n, err := w.array()
	if err != nil {
		return adapters.Scored{}, err
	}
	if n == 0 {
		return adapters.Scored{}, adapters.ErrNil
	}
	if n != 2 {
		return adapters.Scored{}, w.fail(adapters.Unexpected("ZPOPMIN", n, 2))
	}
	member, err := w.bulk()
	if err != nil {
		return adapters.Scored{}, w.fail(err)
	}
	score, err := w.any() // a bulk in RESP2, a double in RESP3
	if err != nil {
		return adapters.Scored{}, w.fail(err)
	}
	m := adapters.Scored{Member: string(member)}
	switch s := score.(type) {
	case float64:
		m.Score = s
	case string:
		if m.Score, err = strconv.ParseFloat(s, 64); err != nil {
			return adapters.Scored{}, w.fail(err)
		}
	default:
		return adapters.Scored{}, w.fail(adapters.Unexpected("ZPOPMIN", score, "a score"))
	}
	return m, nil
}
