package rueidiscompat

import (
	"context"

	"github.com/redis/rueidis/rueidiscompat"

	"rcbench/adapters"
	"rcbench/adapters/rueidis"
)

// Lists of arguments are passed as one []string, which go-redis and
// rueidiscompat take as it is, and not as one interface for each.

type client struct {
	conn *rueidis.Conn
	api  rueidiscompat.Cmdable
}

var _ adapters.Client = (*client)(nil)

// bytes, int and ok read the command of each kind of reply.

func (c *client) bytes(cmd *rueidiscompat.StringCmd) ([]byte, error) {
	v, err := cmd.Bytes()
	if err != nil {
		return nil, c.conn.Err(err)
	}
	return v, nil
}

func (c *client) int(cmd *rueidiscompat.IntCmd) (int64, error) {
	n, err := cmd.Result()
	return n, c.conn.Err(err)
}

func (c *client) ok(name, want string, cmd *rueidiscompat.StatusCmd) error {
	s, err := cmd.Result()
	if err != nil {
		return c.conn.Err(err)
	}
	if s != want {
		return adapters.Unexpected(name, s, want)
	}
	return nil
}

func (c *client) Ping(ctx context.Context) error {
	return c.ok("PING", "PONG", c.api.Ping(ctx))
}

func (c *client) Del(ctx context.Context, keys ...string) (int64, error) {
	return c.int(c.api.Del(ctx, keys...))
}

func (c *client) Get(ctx context.Context, key string) ([]byte, error) {
	return c.bytes(c.api.Get(ctx, key))
}

func (c *client) Set(ctx context.Context, key, value string) error {
	return c.ok("SET", "OK", c.api.Set(ctx, key, value, 0))
}

func (c *client) Incr(ctx context.Context, key string) (int64, error) {
	return c.int(c.api.Incr(ctx, key))
}

func (c *client) Strlen(ctx context.Context, key string) (int64, error) {
	return c.int(c.api.StrLen(ctx, key))
}

func (c *client) MSet(ctx context.Context, pairs ...string) error {
	if len(pairs)%2 != 0 { // For the server to refuse: rueidiscompat panics.
		_, err := c.Do(ctx, append([]string{"MSET"}, pairs...)...)
		return err
	}
	return c.ok("MSET", "OK", c.api.MSet(ctx, pairs))
}

func (c *client) HSet(ctx context.Context, key string, fields ...string) (int64, error) {
	if len(fields)%2 != 0 { // As in MSet.
		_, err := c.Do(ctx, append([]string{"HSET", key}, fields...)...)
		return 0, err
	}
	return c.int(c.api.HSet(ctx, key, fields))
}

func (c *client) LPush(ctx context.Context, key string, values ...string) (int64, error) {
	return c.int(c.api.LPush(ctx, key, values))
}

func (c *client) RPush(ctx context.Context, key string, values ...string) (int64, error) {
	return c.int(c.api.RPush(ctx, key, values))
}

func (c *client) LPop(ctx context.Context, key string) ([]byte, error) {
	return c.bytes(c.api.LPop(ctx, key))
}

func (c *client) RPop(ctx context.Context, key string) ([]byte, error) {
	return c.bytes(c.api.RPop(ctx, key))
}

func (c *client) LRange(ctx context.Context, key string, start, stop int64) ([]string, error) {
	v, err := c.api.LRange(ctx, key, start, stop).Result()
	return v, c.conn.Err(err)
}

func (c *client) SAdd(ctx context.Context, key string, members ...string) (int64, error) {
	return c.int(c.api.SAdd(ctx, key, members))
}

func (c *client) SPop(ctx context.Context, key string) ([]byte, error) {
	return c.bytes(c.api.SPop(ctx, key))
}

func (c *client) ZAdd(ctx context.Context, key string, members ...adapters.Scored) (int64, error) {
	zs := make([]rueidiscompat.Z, len(members))
	for i, m := range members {
		zs[i] = rueidiscompat.Z{Score: m.Score, Member: m.Member}
	}
	return c.int(c.api.ZAdd(ctx, key, zs...))
}

// ZPopMin asks for 1 member by number: without the number rueidiscompat answers
// the empty array of a missing key with an error that only its text identifies.
func (c *client) ZPopMin(ctx context.Context, key string) (adapters.Scored, error) {
	zs, err := c.api.ZPopMin(ctx, key, 1).Result()
	switch {
	case err != nil:
		return adapters.Scored{}, c.conn.Err(err)
	case len(zs) == 0:
		return adapters.Scored{}, adapters.ErrNil
	}
	return adapters.Scored{Member: zs[0].Member, Score: zs[0].Score}, nil
}

// Do is a pipeline of one command: of go-redis' generic calls rueidiscompat has
// that of Pipeliner only.
func (c *client) Do(ctx context.Context, args ...string) (any, error) {
	if err := rueidis.Buildable(args); err != nil {
		return nil, err
	}
	list := make([]any, len(args))
	for i, a := range args {
		list[i] = a
	}
	pipe := c.api.Pipeline()
	cmd := pipe.Do(ctx, list...)
	_, _ = pipe.Exec(ctx) // The error is that of cmd.
	v, err := cmd.Result()
	return rueidis.Reply(v), c.conn.Err(err)
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

// GetAll calls Get from many goroutines, which is how rueidis pipelines.
func (s *shared) GetAll(ctx context.Context, keys []string, values [][]byte) error {
	return adapters.FanOut(ctx, s, keys, values)
}
