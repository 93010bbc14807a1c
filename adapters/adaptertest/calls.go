package adaptertest

import (
	"context"

	"rcbench/adapters"
)

// A call is one use of a method of Client.
type call struct {
	method  string
	command string // in the counters of the server
	run     func(ctx context.Context, c adapters.Client, key string) error

	// sets is a command that makes key hold what the method wants, and
	// spoils is one that makes it hold something else; empty if the method
	// needs nothing, or takes anything.
	sets, spoils []string

	// misses says that a missing key is ErrNil.
	misses bool
}

// calls has one call of each method of Client that sends a command.
var calls = []call{
	{method: "Get", command: "get", sets: setString, spoils: setList, misses: true,
		run: func(ctx context.Context, c adapters.Client, key string) error { return second(c.Get(ctx, key)) }},
	{method: "Set", command: "set",
		run: func(ctx context.Context, c adapters.Client, key string) error { return c.Set(ctx, key, "v") }},
	{method: "Incr", command: "incr", spoils: setList,
		run: func(ctx context.Context, c adapters.Client, key string) error { return second(c.Incr(ctx, key)) }},
	{method: "Strlen", command: "strlen", spoils: setList,
		run: func(ctx context.Context, c adapters.Client, key string) error { return second(c.Strlen(ctx, key)) }},
	{method: "MSet", command: "mset",
		run: func(ctx context.Context, c adapters.Client, key string) error {
			return c.MSet(ctx, key, "v", key+"2", "w")
		}},
	{method: "HSet", command: "hset", spoils: setString,
		run: func(ctx context.Context, c adapters.Client, key string) error {
			return second(c.HSet(ctx, key, "f", "v", "g", "w"))
		}},
	{method: "LPush", command: "lpush", spoils: setString,
		run: func(ctx context.Context, c adapters.Client, key string) error {
			return second(c.LPush(ctx, key, "a", "b"))
		}},
	{method: "RPush", command: "rpush", spoils: setString,
		run: func(ctx context.Context, c adapters.Client, key string) error {
			return second(c.RPush(ctx, key, "a", "b"))
		}},
	{method: "LPop", command: "lpop", sets: setList, spoils: setString, misses: true,
		run: func(ctx context.Context, c adapters.Client, key string) error { return second(c.LPop(ctx, key)) }},
	{method: "RPop", command: "rpop", sets: setList, spoils: setString, misses: true,
		run: func(ctx context.Context, c adapters.Client, key string) error { return second(c.RPop(ctx, key)) }},
	{method: "LRange", command: "lrange", spoils: setString,
		run: func(ctx context.Context, c adapters.Client, key string) error {
			return second(c.LRange(ctx, key, 0, -1))
		}},
	{method: "SAdd", command: "sadd", spoils: setString,
		run: func(ctx context.Context, c adapters.Client, key string) error {
			return second(c.SAdd(ctx, key, "a", "b"))
		}},
	{method: "SPop", command: "spop", sets: []string{"SADD", "a", "b", "c"}, spoils: setString, misses: true,
		run: func(ctx context.Context, c adapters.Client, key string) error { return second(c.SPop(ctx, key)) }},
	{method: "ZAdd", command: "zadd", spoils: setString,
		run: func(ctx context.Context, c adapters.Client, key string) error {
			return second(c.ZAdd(ctx, key, adapters.Scored{Member: "a", Score: 1}))
		}},
	{method: "ZPopMin", command: "zpopmin", sets: []string{"ZADD", "1", "a", "2", "b", "3", "c"}, spoils: setString, misses: true,
		run: func(ctx context.Context, c adapters.Client, key string) error { return second(c.ZPopMin(ctx, key)) }},
	{method: "Ping", command: "ping",
		run: func(ctx context.Context, c adapters.Client, key string) error { return c.Ping(ctx) }},
	{method: "Del", command: "del",
		run: func(ctx context.Context, c adapters.Client, key string) error {
			return second(c.Del(ctx, key, key+"2"))
		}},
	{method: "Do", command: "getrange", spoils: setList,
		run: func(ctx context.Context, c adapters.Client, key string) error {
			return second(c.Do(ctx, "GETRANGE", key, "0", "-1"))
		}},
}

// The commands that set up a key, without the key, which comes second.
var (
	setString = []string{"SET", "text"}
	setList   = []string{"RPUSH", "a", "b", "c"}
)

// onKey puts the key into a command of call.
func onKey(command []string, key string) []string {
	return append([]string{command[0], key}, command[1:]...)
}

func second[T any](_ T, err error) error { return err }

// batchCommands are the commands that queueAll queues, in that order.
var batchCommands = []string{"get", "set", "incr", "hset", "rpush", "sadd", "zadd"}

// queueAll queues one of each command on keys that start with key.
func queueAll(b adapters.Batch, key string) {
	b.Get(key + "get")
	b.Set(key+"set", "v")
	b.Incr(key + "incr")
	b.HSet(key+"hset", "f", "v")
	b.RPush(key+"rpush", "v")
	b.SAdd(key+"sadd", "m")
	b.ZAdd(key+"zadd", 1.5, "m")
}
