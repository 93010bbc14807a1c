package valkey

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rcbench/adapters"
)

// Every command is built and read as README's "Command Response Cheatsheet"
// shows. AsBytes is no copy and no shared buffer either: the bytes of a reply
// are allocated for it (readB in resp.go), and nothing else keeps them.

type client struct {
	conn *Conn
}

var _ adapters.Client = (*client)(nil)

func (c *client) Ping(ctx context.Context) error {
	s, err := c.conn.Do(ctx, c.conn.B().Ping().Build()).ToString()
	if err != nil {
		return c.conn.Err(err)
	}
	if s != "PONG" {
		return adapters.Unexpected("PING", s, "PONG")
	}
	return nil
}

func (c *client) Del(ctx context.Context, keys ...string) (int64, error) {
	n, err := c.conn.Do(ctx, c.conn.B().Del().Key(keys...).Build()).ToInt64()
	return n, c.conn.Err(err)
}

func (c *client) Get(ctx context.Context, key string) ([]byte, error) {
	v, err := c.conn.Do(ctx, c.conn.B().Get().Key(key).Build()).AsBytes()
	return v, c.conn.Err(err)
}

func (c *client) Set(ctx context.Context, key, value string) error {
	s, err := c.conn.Do(ctx, c.conn.B().Set().Key(key).Value(value).Build()).ToString()
	return c.ok("SET", s, err)
}

// ok is the error of a command that answers OK.
func (c *client) ok(command, reply string, err error) error {
	if err != nil {
		return c.conn.Err(err)
	}
	if reply != "OK" {
		return adapters.Unexpected(command, reply, "OK")
	}
	return nil
}

func (c *client) Incr(ctx context.Context, key string) (int64, error) {
	n, err := c.conn.Do(ctx, c.conn.B().Incr().Key(key).Build()).ToInt64()
	return n, c.conn.Err(err)
}

func (c *client) Strlen(ctx context.Context, key string) (int64, error) {
	n, err := c.conn.Do(ctx, c.conn.B().Strlen().Key(key).Build()).ToInt64()
	return n, c.conn.Err(err)
}

func (c *client) MSet(ctx context.Context, pairs ...string) error {
	if len(pairs)%2 != 0 { // For the server to refuse: the builder takes pairs only.
		s, err := c.conn.Do(ctx, c.conn.B().Arbitrary("MSET").Args(pairs...).Build()).ToString()
		return c.ok("MSET", s, err)
	}
	cmd := c.conn.B().Mset().KeyValue()
	for i := 0; i < len(pairs); i += 2 {
		cmd = cmd.KeyValue(pairs[i], pairs[i+1])
	}
	s, err := c.conn.Do(ctx, cmd.Build()).ToString()
	return c.ok("MSET", s, err)
}

func (c *client) HSet(ctx context.Context, key string, fields ...string) (int64, error) {
	if len(fields)%2 != 0 { // As in MSet.
		n, err := c.conn.Do(ctx, c.conn.B().Arbitrary("HSET").Keys(key).Args(fields...).Build()).ToInt64()
		return n, c.conn.Err(err)
	}
	cmd := c.conn.B().Hset().Key(key).FieldValue()
	for i := 0; i < len(fields); i += 2 {
		cmd = cmd.FieldValue(fields[i], fields[i+1])
	}
	n, err := c.conn.Do(ctx, cmd.Build()).ToInt64()
	return n, c.conn.Err(err)
}

func (c *client) LPush(ctx context.Context, key string, values ...string) (int64, error) {
	n, err := c.conn.Do(ctx, c.conn.B().Lpush().Key(key).Element(values...).Build()).ToInt64()
	return n, c.conn.Err(err)
}

func (c *client) RPush(ctx context.Context, key string, values ...string) (int64, error) {
	n, err := c.conn.Do(ctx, c.conn.B().Rpush().Key(key).Element(values...).Build()).ToInt64()
	return n, c.conn.Err(err)
}

func (c *client) LPop(ctx context.Context, key string) ([]byte, error) {
	v, err := c.conn.Do(ctx, c.conn.B().Lpop().Key(key).Build()).AsBytes()
	return v, c.conn.Err(err)
}

func (c *client) RPop(ctx context.Context, key string) ([]byte, error) {
	v, err := c.conn.Do(ctx, c.conn.B().Rpop().Key(key).Build()).AsBytes()
	return v, c.conn.Err(err)
}

func (c *client) LRange(ctx context.Context, key string, start, stop int64) ([]string, error) {
	v, err := c.conn.Do(ctx, c.conn.B().Lrange().Key(key).Start(start).Stop(stop).Build()).AsStrSlice()
	return v, c.conn.Err(err)
}

func (c *client) SAdd(ctx context.Context, key string, members ...string) (int64, error) {
	n, err := c.conn.Do(ctx, c.conn.B().Sadd().Key(key).Member(members...).Build()).ToInt64()
	return n, c.conn.Err(err)
}

func (c *client) SPop(ctx context.Context, key string) ([]byte, error) {
	v, err := c.conn.Do(ctx, c.conn.B().Spop().Key(key).Build()).AsBytes()
	return v, c.conn.Err(err)
}

func (c *client) ZAdd(ctx context.Context, key string, members ...adapters.Scored) (int64, error) {
	cmd := c.conn.B().Zadd().Key(key).ScoreMember()
	for _, m := range members {
		cmd = cmd.ScoreMember(m.Score, m.Member)
	}
	n, err := c.conn.Do(ctx, cmd.Build()).ToInt64()
	return n, c.conn.Err(err)
}

func (c *client) ZPopMin(ctx context.Context, key string) (adapters.Scored, error) {
	reply := c.conn.Do(ctx, c.conn.B().Zpopmin().Key(key).Build())
	z, err := reply.AsZScore()
	if err != nil {
		// AsZScore has no word of its own for the empty array of a missing key.
		if none, e := reply.ToArray(); e == nil && len(none) == 0 {
			return adapters.Scored{}, adapters.ErrNil
		}
		return adapters.Scored{}, c.conn.Err(err)
	}
	return adapters.Scored{Member: z.Member, Score: z.Score}, nil
}

func (c *client) Do(ctx context.Context, args ...string) (any, error) {
	if err := Buildable(args); err != nil {
		return nil, err
	}
	v, err := c.conn.Do(ctx, c.conn.B().Arbitrary(args...).Build()).ToAny()
	return Reply(v), c.conn.Err(err)
}

// Buildable refuses what Arbitrary would panic on.
func Buildable(args []string) error {
	switch {
	case len(args) == 0 || args[0] == "":
		return errors.New("valkey: no command")
	case strings.HasSuffix(strings.ToUpper(args[0]), "SUBSCRIBE"):
		return fmt.Errorf("valkey: %s: %w", args[0], adapters.ErrUnsupported)
	}
	return nil
}

func (c *client) Close() error {
	c.conn.Close()
	return nil
}

// shared is the client of Share.
type shared struct {
	client
}

var (
	_ adapters.Client = (*shared)(nil)
	_ adapters.Async  = (*shared)(nil)
)

// GetAll calls Do from many goroutines, which README's "Auto Pipelining" tells
// its users to do.
func (s *shared) GetAll(ctx context.Context, keys []string, values [][]byte) error {
	return adapters.FanOut(ctx, s, keys, values)
}
