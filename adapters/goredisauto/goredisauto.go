// Package goredisauto drives the AutoPipeline of github.com/redis/go-redis/v9,
// which gathers the commands of concurrent callers into pipelines: the
// blocking face for the methods of Client, the deferred face for GetAll. Its
// documentation calls both experimental.
//
// The handshake and the options are those of package goredis. Do, by the
// client's own rule, is not batched but runs on a connection of the pool; so
// does the explicit pipeline of a Batch. While one of them has the connection
// of Share, the batches wait.
//
// Each face has a goroutine that flushes, and starts one for each batch.
//
// Note: by default go-redis would send batches over a second pool, of
// connections with buffers of 128 KiB instead of 32. Without that pool
// (PipelinePoolSize -1) the number of connections is exact. The connection of
// Share gets its buffers nonetheless; those of Open do not, because a thousand
// of them would be a heap of 256 MB and spare the client its garbage
// collections. What Open loses with the pool is a shorter wait for stragglers
// while batches are in flight: go-redis asks that pool whether a connection is
// free. FullDuplex needs the pool too, and is advised against on a fast link.
package goredisauto

import (
	"context"
	"errors"
	"net"

	"github.com/redis/go-redis/v9"

	"rcbench/adapters"
	"rcbench/adapters/goredis"
)

// Driver opens connections with go-redis and uses them through AutoPipeline.
var Driver adapters.Driver = driver{}

const name = "goredisauto"

type driver struct{}

func (driver) Name() string    { return name }
func (driver) Version() string { return adapters.LinkedVersion(redis.NewClient) }

func (driver) Lacks() map[adapters.Capability]string { return lacks }

var lacks = map[adapters.Capability]string{
	adapters.CapCancel:   "AutoPipeline runs a batch on its own context: that of a command is not honored once it is queued",
	adapters.CapDeadline: "AutoPipeline runs a batch on its own context: that of a command is not honored once it is queued",
}

// Dial is for one goroutine, which has nothing to gather.
//
// Note: an AutoPipeliner wants a Client, which makes a new connection where
// the old one broke; goredis.Dial never does.
func (driver) Dial(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	return asClient(open(ctx, cfg, 1, 0))
}

// Share is the face of Dial for all goroutines, and the deferred one.
func (driver) Share(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	c, err := open(ctx, cfg, 1, redis.DefaultPipelineBufferSize)
	if err != nil {
		return nil, err
	}
	async, err := c.rdb.AsyncAutoPipeline()
	if err != nil {
		c.Close()
		return nil, adapters.DialError(name, cfg, err)
	}
	return &shared{c, async}, nil
}

// Open has one batch in flight, as Share has: that is go-redis' default and the
// idiom of its README. The other connections wait for Do and Batch.
//
// Note: MaxConcurrentBatches 8 with Unordered was the alternative. About it
// go-redis does not agree with itself: the README promises an order of magnitude
// from it, the comment on DefaultBlockingAutoPipelineOptions a collapse. Neither
// was seen. With 100 goroutines, 100 connections and Redis 7.0.15 on the same two
// cores, which were not idle otherwise, the medians of 12 alternating runs were
//
//	         1 batch    8 batches
//	loop=1    134k/s      154k/s
//	loop=100  128k/s      139k/s
//
// with a spread between the runs of one build (70k/s to 228k/s) that is wider
// than the difference, and 4 to 5 allocations a GET for both.
func (driver) Open(ctx context.Context, cfg adapters.Config, conns int) (adapters.Client, error) {
	return asClient(open(ctx, cfg, conns, 0))
}

// asClient keeps a nil client out of the interface.
func asClient(c *client, err error) (adapters.Client, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// open makes a client with conns connections, whose buffers have the given
// size in bytes, 0 for the default of go-redis.
func open(ctx context.Context, cfg adapters.Config, conns, buffers int) (*client, error) {
	opt, err := goredis.Options(cfg, conns)
	if err != nil {
		return nil, adapters.DialError(name, cfg, err)
	}
	opt.ReadBufferSize, opt.WriteBufferSize = buffers, buffers
	var s sockets
	s.record(opt)
	var rdb *redis.Client
	if cfg.Lazy {
		rdb = redis.NewClient(opt)
	} else {
		rdb, err = goredis.Connect(ctx, cfg, opt)
	}
	if err != nil {
		return nil, adapters.DialError(name, cfg, err)
	}

	ap, err := rdb.AutoPipeline()
	if err != nil {
		rdb.Close()
		return nil, adapters.DialError(name, cfg, err)
	}
	return &client{goredis.NewCommands(name, cfg, ap), rdb, &s}, nil
}

// client is what Dial and Open return.
type client struct {
	goredis.Commands
	rdb     *redis.Client
	sockets *sockets
}

var _ adapters.Client = (*client)(nil)

// Close closes the connections first. On its own, go-redis would send what is
// queued and await the replies, those of blocking commands too, for up to 30
// seconds; and commands in flight have to fail.
func (c *client) Close() error {
	c.sockets.close()
	err := c.rdb.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil // closed above
	}
	return err
}

// shared is what Share returns.
type shared struct {
	*client
	async *redis.AutoPipeliner
}

var _ adapters.Async = (*shared)(nil)

// GetAll is the window of the README: submit all, then read. Results are read
// even after an error, so that none is in flight when GetAll returns.
func (s *shared) GetAll(ctx context.Context, keys []string, values [][]byte) error {
	if err := s.Done(ctx); err != nil {
		return err
	}
	cmds := make([]*redis.StringCmd, len(keys))
	for i, key := range keys {
		cmds[i] = s.async.Get(ctx, key)
	}
	var first error
	for i, cmd := range cmds {
		v, err := s.Value(cmd)
		values[i] = v
		if err != nil && first == nil {
			first = err
		}
	}
	return first
}
