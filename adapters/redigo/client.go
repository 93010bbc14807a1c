package redigo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gomodule/redigo/redis"

	"rcbench/adapters"
)

// client has the commands, over the connections of any source. A command
// allocates what the same call of redigo does: the arguments that it makes are
// passed on as they are.
type client struct {
	source
	addr string
}

var _ adapters.Client = (*client)(nil)

func (c *client) do(ctx context.Context, cmd string, args ...any) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	conn, err := c.get(ctx)
	if err != nil {
		return nil, err
	}
	defer c.put(conn)
	var v any
	if ctx.Done() == nil {
		v, err = conn.Do(cmd, args...)
	} else {
		v, err = redis.DoContext(conn, ctx, cmd, args...)
	}
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	return v, nil
}

// failed is the error for a command that was refused or not answered.
func (c *client) failed(ctx context.Context, err error) error {
	if _, ok := err.(redis.Error); ok {
		return reply(err)
	}
	// DoContext gives the deadline to the socket too, and either of the two
	// may be the first to notice it.
	if d, ok := ctx.Deadline(); ok && errors.Is(err, os.ErrDeadlineExceeded) && !time.Now().Before(d) {
		err = context.DeadlineExceeded
	}
	return fmt.Errorf("redigo: %s: %w", c.addr, err)
}

// reply turns redigo's errors about a reply into those of the contract.
func reply(err error) error {
	if e, ok := err.(redis.Error); ok {
		return adapters.ReplyError(e)
	}
	if err == redis.ErrNil {
		return adapters.ErrNil
	}
	return err
}

func (c *client) bytes(ctx context.Context, cmd, key string) ([]byte, error) {
	v, err := redis.Bytes(c.do(ctx, cmd, key))
	return v, reply(err)
}

func (c *client) integer(ctx context.Context, cmd string, args ...any) (int64, error) {
	n, err := redis.Int64(c.do(ctx, cmd, args...))
	return n, reply(err)
}

func (c *client) status(ctx context.Context, want, cmd string, args ...any) error {
	v, err := c.do(ctx, cmd, args...)
	if err != nil {
		return err
	}
	return is(cmd, v, want)
}

// is fails unless the reply of cmd is the status want.
func is(cmd string, v any, want string) error {
	if s, ok := v.(string); !ok || s != want {
		return adapters.Unexpected(cmd, v, want)
	}
	return nil
}

func (c *client) Ping(ctx context.Context) error { return c.status(ctx, "PONG", "PING") }

func (c *client) Del(ctx context.Context, keys ...string) (int64, error) {
	return c.integer(ctx, "DEL", arguments(nil, keys)...)
}

func (c *client) Get(ctx context.Context, key string) ([]byte, error) {
	return c.bytes(ctx, "GET", key)
}

func (c *client) Set(ctx context.Context, key, value string) error {
	return c.status(ctx, "OK", "SET", key, value)
}

func (c *client) Incr(ctx context.Context, key string) (int64, error) {
	return c.integer(ctx, "INCR", key)
}

func (c *client) Strlen(ctx context.Context, key string) (int64, error) {
	return c.integer(ctx, "STRLEN", key)
}

func (c *client) MSet(ctx context.Context, pairs ...string) error {
	return c.status(ctx, "OK", "MSET", arguments(nil, pairs)...)
}

func (c *client) HSet(ctx context.Context, key string, fields ...string) (int64, error) {
	return c.integer(ctx, "HSET", arguments(key, fields)...)
}

func (c *client) LPush(ctx context.Context, key string, values ...string) (int64, error) {
	return c.integer(ctx, "LPUSH", arguments(key, values)...)
}

func (c *client) RPush(ctx context.Context, key string, values ...string) (int64, error) {
	return c.integer(ctx, "RPUSH", arguments(key, values)...)
}

func (c *client) LPop(ctx context.Context, key string) ([]byte, error) {
	return c.bytes(ctx, "LPOP", key)
}

func (c *client) RPop(ctx context.Context, key string) ([]byte, error) {
	return c.bytes(ctx, "RPOP", key)
}

func (c *client) LRange(ctx context.Context, key string, start, stop int64) ([]string, error) {
	v, err := redis.Strings(c.do(ctx, "LRANGE", key, start, stop))
	return v, reply(err)
}

func (c *client) SAdd(ctx context.Context, key string, members ...string) (int64, error) {
	return c.integer(ctx, "SADD", arguments(key, members)...)
}

func (c *client) SPop(ctx context.Context, key string) ([]byte, error) {
	return c.bytes(ctx, "SPOP", key)
}

func (c *client) ZAdd(ctx context.Context, key string, members ...adapters.Scored) (int64, error) {
	args := make([]any, 0, 1+2*len(members))
	args = append(args, key)
	for _, m := range members {
		args = append(args, m.Score, m.Member)
	}
	return c.integer(ctx, "ZADD", args...)
}

func (c *client) ZPopMin(ctx context.Context, key string) (adapters.Scored, error) {
	v, err := redis.Values(c.do(ctx, "ZPOPMIN", key))
	if err != nil {
		return adapters.Scored{}, reply(err)
	}
	if len(v) == 0 {
		return adapters.Scored{}, adapters.ErrNil
	}
	var m adapters.Scored
	_, err = redis.Scan(v, &m.Member, &m.Score)
	return m, err
}

// Do sends any command.
func (c *client) Do(ctx context.Context, args ...string) (any, error) {
	v, err := c.do(ctx, args[0], arguments(nil, args[1:])...)
	if err != nil {
		return nil, err
	}
	if v = plain(v); v == nil {
		return nil, adapters.ErrNil
	}
	return v, nil
}

// arguments is redis.Args{}.Add(key).AddFlat(rest) without its reflection and
// its growing: what a caller who writes the arguments out would allocate. No
// key, no first argument.
func arguments(key any, rest []string) []any {
	args := make([]any, 0, 1+len(rest))
	if key != nil {
		args = append(args, key)
	}
	for _, s := range rest {
		args = append(args, s)
	}
	return args
}

// plain is a reply with strings for bulks, at all depths, and the contract's
// errors for the error replies in an array (those of EXEC).
func plain(v any) any {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case redis.Error:
		return adapters.ReplyError(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return v
}
