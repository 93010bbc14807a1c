package goredis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"rcbench/adapters"
)

// A Cmdable is what a Client, a Conn and an AutoPipeliner of go-redis have in
// common.
type Cmdable interface {
	redis.Cmdable
	Do(ctx context.Context, args ...any) *redis.Cmd
}

// Commands is all of adapters.Client but Close.
//
// Note: the call through the interface allocates nothing that a direct call
// does not; TestAllocs keeps that.
type Commands struct {
	via  Cmdable
	name string // starts errors: driver and address
}

// NewCommands returns commands that are sent via a client of go-redis.
func NewCommands(driver string, cfg adapters.Config, via Cmdable) Commands {
	return Commands{via: via, name: driver + ": " + cfg.Addr}
}

// translate gives the errors of go-redis their meaning in this contract.
func translate(err error) error {
	if errors.Is(err, redis.Nil) {
		return adapters.ErrNil
	}
	var reply redis.Error
	if errors.As(err, &reply) {
		return adapters.ReplyError(reply.Error())
	}
	return err
}

// fail is translate for an error of a command.
func (c *Commands) fail(err error) error {
	if err == nil {
		return nil
	}
	err = translate(err)
	if errors.Is(err, adapters.ErrNil) || errors.Is(err, adapters.ErrReply) {
		return err
	}
	return fmt.Errorf("%s: %w", c.name, err)
}

// Done fails for a context that is done, before anything is sent: a Client
// looks at the context itself, a Conn and an AutoPipeliner do not.
func (c *Commands) Done(ctx context.Context) error { return c.fail(ctx.Err()) }

// Value is the value of a reply. cmd.Bytes does not copy: go-redis reads each
// bulk reply into memory of its own, and the command that shares it is dropped
// here.
func (c *Commands) Value(cmd *redis.StringCmd) ([]byte, error) {
	v, err := cmd.Bytes()
	if err != nil {
		return nil, c.fail(err)
	}
	return v, nil
}

func (c *Commands) int(cmd *redis.IntCmd) (int64, error) {
	n, err := cmd.Result()
	return n, c.fail(err)
}

func (c *Commands) status(cmd *redis.StatusCmd, command, want string) error {
	got, err := cmd.Result()
	if err != nil {
		return c.fail(err)
	}
	if got != want {
		return c.fail(adapters.Unexpected(command, got, want))
	}
	return nil
}

func (c *Commands) Ping(ctx context.Context) error {
	if err := c.Done(ctx); err != nil {
		return err
	}
	return c.status(c.via.Ping(ctx), "PING", "PONG")
}

func (c *Commands) Del(ctx context.Context, keys ...string) (int64, error) {
	if err := c.Done(ctx); err != nil {
		return 0, err
	}
	return c.int(c.via.Del(ctx, keys...))
}

func (c *Commands) Do(ctx context.Context, args ...string) (any, error) {
	if err := c.Done(ctx); err != nil {
		return nil, err
	}
	v, err := c.via.Do(ctx, boxed(args)...).Result()
	if err != nil {
		return nil, c.fail(err)
	}
	return v, nil
}

func (c *Commands) Get(ctx context.Context, key string) ([]byte, error) {
	if err := c.Done(ctx); err != nil {
		return nil, err
	}
	return c.Value(c.via.Get(ctx, key))
}

func (c *Commands) Set(ctx context.Context, key, value string) error {
	if err := c.Done(ctx); err != nil {
		return err
	}
	return c.status(c.via.Set(ctx, key, value, 0), "SET", "OK")
}

func (c *Commands) Incr(ctx context.Context, key string) (int64, error) {
	if err := c.Done(ctx); err != nil {
		return 0, err
	}
	return c.int(c.via.Incr(ctx, key))
}

func (c *Commands) Strlen(ctx context.Context, key string) (int64, error) {
	if err := c.Done(ctx); err != nil {
		return 0, err
	}
	return c.int(c.via.StrLen(ctx, key))
}

func (c *Commands) MSet(ctx context.Context, pairs ...string) error {
	if err := c.Done(ctx); err != nil {
		return err
	}
	return c.status(c.via.MSet(ctx, boxed(pairs)...), "MSET", "OK")
}

func (c *Commands) HSet(ctx context.Context, key string, fields ...string) (int64, error) {
	if err := c.Done(ctx); err != nil {
		return 0, err
	}
	return c.int(c.via.HSet(ctx, key, boxed(fields)...))
}

func (c *Commands) LPush(ctx context.Context, key string, values ...string) (int64, error) {
	if err := c.Done(ctx); err != nil {
		return 0, err
	}
	return c.int(c.via.LPush(ctx, key, boxed(values)...))
}

func (c *Commands) RPush(ctx context.Context, key string, values ...string) (int64, error) {
	if err := c.Done(ctx); err != nil {
		return 0, err
	}
	return c.int(c.via.RPush(ctx, key, boxed(values)...))
}

func (c *Commands) LPop(ctx context.Context, key string) ([]byte, error) {
	if err := c.Done(ctx); err != nil {
		return nil, err
	}
	return c.Value(c.via.LPop(ctx, key))
}

func (c *Commands) RPop(ctx context.Context, key string) ([]byte, error) {
	if err := c.Done(ctx); err != nil {
		return nil, err
	}
	return c.Value(c.via.RPop(ctx, key))
}

func (c *Commands) LRange(ctx context.Context, key string, start, stop int64) ([]string, error) {
	if err := c.Done(ctx); err != nil {
		return nil, err
	}
	v, err := c.via.LRange(ctx, key, start, stop).Result()
	return v, c.fail(err)
}

func (c *Commands) SAdd(ctx context.Context, key string, members ...string) (int64, error) {
	if err := c.Done(ctx); err != nil {
		return 0, err
	}
	return c.int(c.via.SAdd(ctx, key, boxed(members)...))
}

func (c *Commands) SPop(ctx context.Context, key string) ([]byte, error) {
	if err := c.Done(ctx); err != nil {
		return nil, err
	}
	return c.Value(c.via.SPop(ctx, key))
}

func (c *Commands) ZAdd(ctx context.Context, key string, members ...adapters.Scored) (int64, error) {
	if err := c.Done(ctx); err != nil {
		return 0, err
	}
	zs := make([]redis.Z, len(members))
	for i, m := range members {
		zs[i] = redis.Z{Score: m.Score, Member: m.Member}
	}
	return c.int(c.via.ZAdd(ctx, key, zs...))
}

func (c *Commands) ZPopMin(ctx context.Context, key string) (adapters.Scored, error) {
	if err := c.Done(ctx); err != nil {
		return adapters.Scored{}, err
	}
	zs, err := c.via.ZPopMin(ctx, key).Result()
	switch {
	case err != nil:
		return adapters.Scored{}, c.fail(err)
	case len(zs) == 0:
		return adapters.Scored{}, adapters.ErrNil
	}
	return adapters.Scored{Member: zs[0].Member.(string), Score: zs[0].Score}, nil
}

// boxed is a list of strings as go-redis takes it.
//
// Note: SAdd(ctx, key, members) is documented too, with the []string as the
// one argument. It costs more: go-redis makes room for one argument, and then
// grows it as it finds more (appendArg), which is 7 allocations instead of 5
// for two members, and 1,013 and 66 kB instead of 1,004 and 49 kB for 1,000.
func boxed(args []string) []any {
	all := make([]any, len(args))
	for i, v := range args {
		all[i] = v
	}
	return all
}
