package radix

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mediocregopher/radix/v4"

	"rcbench/adapters"
)

// client has the commands, on a Conn or a Pool.
//
// What a command passes to radix may be written to after the command has
// returned with an error, because radix still unmarshals a reply that comes
// late. So receivers are used for one command only.
type client struct {
	radix radix.Client
	pool  *pool // the same, nil for a Conn
	addr  string
}

var _ adapters.Client = (*client)(nil)

func (c *client) do(ctx context.Context, a radix.Action) error {
	err := ctx.Err()
	if err != nil {
		return err
	}
	if c.pool != nil {
		if ctx, err = c.pool.waitable(ctx); err != nil {
			return err
		}
	}
	if err := c.radix.Do(ctx, a); err != nil {
		return c.failed(err)
	}
	return nil
}

// failed is the error for a command that was refused or not answered.
func (c *client) failed(err error) error {
	if e := replyError(err); e != nil {
		return e
	}
	if c.pool != nil && c.pool.closed.Load() {
		return errClosed
	}
	return fmt.Errorf("radix: %s: %w", c.addr, err)
}

func (c *client) bytes(ctx context.Context, cmd, key string) ([]byte, error) {
	var v []byte
	if err := c.do(ctx, radix.Cmd(&v, cmd, key)); err != nil {
		return nil, err
	}
	if v == nil {
		return nil, adapters.ErrNil
	}
	return v, nil
}

func (c *client) integer(ctx context.Context, cmd string, args ...string) (int64, error) {
	var r integer
	if err := c.do(ctx, radix.Cmd(&r, cmd, args...)); err != nil {
		return 0, err
	}
	if r.wrong != nil {
		return 0, c.failed(r.wrong)
	}
	return r.n, nil
}

func (c *client) strings(ctx context.Context, cmd string, args ...string) ([]string, error) {
	var r list
	if err := c.do(ctx, radix.Cmd(&r, cmd, args...)); err != nil {
		return nil, err
	}
	if r.wrong != nil {
		return nil, c.failed(r.wrong)
	}
	return r.s, nil
}

func (c *client) status(ctx context.Context, want, cmd string, args ...string) error {
	var r text
	if err := c.do(ctx, radix.Cmd(&r, cmd, args...)); err != nil {
		return err
	}
	if r.wrong != nil {
		return c.failed(r.wrong)
	}
	if r.s != want {
		return adapters.Unexpected(cmd, r.s, want)
	}
	return nil
}

func (c *client) Ping(ctx context.Context) error { return c.status(ctx, "PONG", "PING") }

func (c *client) Del(ctx context.Context, keys ...string) (int64, error) {
	return c.integer(ctx, "DEL", keys...)
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
	return c.status(ctx, "OK", "MSET", pairs...)
}

func (c *client) HSet(ctx context.Context, key string, fields ...string) (int64, error) {
	return c.integer(ctx, "HSET", prepend(key, fields)...)
}

func (c *client) LPush(ctx context.Context, key string, values ...string) (int64, error) {
	return c.integer(ctx, "LPUSH", prepend(key, values)...)
}

func (c *client) RPush(ctx context.Context, key string, values ...string) (int64, error) {
	return c.integer(ctx, "RPUSH", prepend(key, values)...)
}

func (c *client) LPop(ctx context.Context, key string) ([]byte, error) {
	return c.bytes(ctx, "LPOP", key)
}

func (c *client) RPop(ctx context.Context, key string) ([]byte, error) {
	return c.bytes(ctx, "RPOP", key)
}

func (c *client) LRange(ctx context.Context, key string, start, stop int64) ([]string, error) {
	return c.strings(ctx, "LRANGE", key, strconv.FormatInt(start, 10), strconv.FormatInt(stop, 10))
}

func (c *client) SAdd(ctx context.Context, key string, members ...string) (int64, error) {
	return c.integer(ctx, "SADD", prepend(key, members)...)
}

func (c *client) SPop(ctx context.Context, key string) ([]byte, error) {
	return c.bytes(ctx, "SPOP", key)
}

func (c *client) ZAdd(ctx context.Context, key string, members ...adapters.Scored) (int64, error) {
	args := make([]string, 0, 1+2*len(members))
	args = append(args, key)
	for _, m := range members {
		args = append(args, formatScore(m.Score), m.Member)
	}
	return c.integer(ctx, "ZADD", args...)
}

// ZPopMin reads the score as text, which radix makes of the bulk of RESP2 and
// of the double of RESP3.
func (c *client) ZPopMin(ctx context.Context, key string) (adapters.Scored, error) {
	v, err := c.strings(ctx, "ZPOPMIN", key)
	switch {
	case err != nil:
		return adapters.Scored{}, err
	case len(v) == 0:
		return adapters.Scored{}, adapters.ErrNil
	case len(v) != 2:
		return adapters.Scored{}, adapters.Unexpected("ZPOPMIN", v, "a member and its score")
	}
	score, err := strconv.ParseFloat(v[1], 64)
	if err != nil {
		return adapters.Scored{}, adapters.Unexpected("ZPOPMIN", v[1], "a score")
	}
	return adapters.Scored{Member: v[0], Score: score}, nil
}

// Do sends any command.
func (c *client) Do(ctx context.Context, args ...string) (any, error) {
	var r reply
	a := radix.Cmd(&r, args[0], args[1:]...)
	if c.pool != nil && !a.Properties().CanShareConn {
		c.pool.scarce.Store(true) // it takes a connection out of the Pool
	}
	if err := c.do(ctx, a); err != nil {
		return nil, err
	}
	switch v := r.v.(type) {
	case nil:
		return nil, adapters.ErrNil
	case adapters.ReplyError:
		return nil, v
	default:
		return v, nil
	}
}

func (c *client) Close() error {
	if c.pool != nil {
		return c.pool.Close()
	}
	return c.radix.Close()
}

// shared is the client of Share.
type shared struct{ client }

var _ adapters.Async = (*shared)(nil)

// GetAll uses a goroutine for each key, because a Conn pipelines what is
// performed on it concurrently, and radix has no futures.
func (c *shared) GetAll(ctx context.Context, keys []string, values [][]byte) error {
	return adapters.FanOut(ctx, c, keys, values)
}

// prepend is the arguments of Cmd. FlatCmd, which takes a key and a []string as
// they are, makes an interface of each string, and costs up to six times as
// much.
func prepend(key string, rest []string) []string {
	return append(append(make([]string, 0, 1+len(rest)), key), rest...)
}

// formatScore is the shortest decimal that reads back as the same number.
func formatScore(score float64) string { return strconv.FormatFloat(score, 'g', -1, 64) }
