// Package goredis drives github.com/redis/go-redis/v9: a pool of connections,
// one command at a time on each.
//
// What a connection sends before the first command, with a round trip for
// each line (seen by a fake server, and kept by TestHandshake):
//
//	stock  HELLO 3
//	       CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type <type>
//	       CLIENT SETINFO LIB-NAME, CLIENT SETINFO LIB-VER
//	lean   HELLO 3
//
// Connections that follow leave out MAINT_NOTIFICATIONS once the server has
// refused it, as Redis OSS does. A password travels in HELLO; a database adds
// SELECT, a round trip of its own. go-redis has no call that connects: the
// first command does. Dial and Open therefore end with a PING on each
// connection, one more round trip; a Lazy Dial is a NewClient and no more.
//
// There is no background traffic. A connection has a read and a write buffer
// of 32 KiB each.
package goredis

import (
	"context"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"rcbench/adapters"
)

// Driver opens connections with go-redis.
var Driver adapters.Driver = driver{}

const name = "goredis"

type driver struct{}

func (driver) Name() string    { return name }
func (driver) Version() string { return adapters.LinkedVersion(redis.NewClient) }

func (driver) Lacks() map[adapters.Capability]string { return lacks }

var lacks = map[adapters.Capability]string{
	adapters.CapMultiplex: "go-redis gives a connection to one caller at a time; its AutoPipeline is the driver goredisauto",
	adapters.CapAsync:     "go-redis has explicit pipelines only; its AsyncAutoPipeline is the driver goredisauto",
	adapters.CapCancel:    "go-redis looks at a context only while it waits for a connection, not while it waits for a reply",
	adapters.CapDeadline:  "go-redis puts a context's deadline on reads and writes only with ContextTimeoutEnabled, which is off by default",
}

func init() {
	// go-redis writes connection errors to stderr, into the middle of
	// benchmark lines. What it logs it also returns.
	logging.Disable()
}

// Dial takes the connection out of the pool for good: the documentation of
// redis.Conn reserves it for "a specific need for a continuous single Redis
// connection", and a MULTI that is retried on another connection is one.
//
// Note: a Client with PoolSize 1 was the alternative. It reconnects silently.
// In CPU per GET the Conn is ahead by 13 % with RESP2, where it saves the
// pool's look at the socket (a MSG_PEEK) and three allocations, and level
// with RESP3, where it looks at the socket twice itself, for push messages,
// and has three allocations more than the Client.
func (driver) Dial(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	opt, err := Options(cfg, 1)
	if err != nil {
		return nil, adapters.DialError(name, cfg, err)
	}
	if cfg.Lazy {
		rdb := redis.NewClient(opt)
		return &client{NewCommands(name, cfg, rdb), rdb}, nil
	}
	rdb, conns, err := connect(ctx, cfg, opt)
	if err != nil {
		return nil, adapters.DialError(name, cfg, err)
	}
	return &client{NewCommands(name, cfg, conns[0]), rdb}, nil
}

func (d driver) Share(context.Context, adapters.Config) (adapters.Client, error) {
	return nil, adapters.Lacking(d, adapters.CapMultiplex)
}

func (driver) Open(ctx context.Context, cfg adapters.Config, conns int) (adapters.Client, error) {
	opt, err := Options(cfg, conns)
	if err != nil {
		return nil, adapters.DialError(name, cfg, err)
	}
	rdb, err := Connect(ctx, cfg, opt)
	if err != nil {
		return nil, adapters.DialError(name, cfg, err)
	}
	return &client{NewCommands(name, cfg, rdb), rdb}, nil
}

// client is what Dial and Open return.
type client struct {
	Commands
	rdb *redis.Client
}

var _ adapters.Client = (*client)(nil)

// Close closes all connections, also the one that Dial has taken out of the
// pool. The Conn itself is not closed: that would give its connection back to
// a pool that is gone, and may not be called while a command is in flight.
func (c *client) Close() error { return c.rdb.Close() }
