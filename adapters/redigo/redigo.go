// Package redigo drives github.com/gomodule/redigo.
//
// On connect redigo sends nothing, except AUTH for a password and SELECT for
// a database other than 0, each in a round trip of its own. It has no
// background traffic and no retries, so stock and lean are the same here.
//
//	conn=own, conn=fresh  redis.Dial: one Conn, 4 KiB of buffer each way
//	conn=pool             redis.Pool with MaxIdle = MaxActive = n and Wait,
//	                      filled before Open returns
//	conn=shared           not possible: a Conn has one caller at a time
//
// The three settings of the pool are needed in stock too. Without MaxIdle a
// Pool keeps no connection, without MaxActive it has no limit, and without
// Wait the caller who finds all connections busy is refused.
//
// Commands go through Do where the context cannot end, and through DoContext
// where it can, which starts a goroutine for each call. A context that ends
// while a command is in flight costs the connection: redigo closes it, the
// pool dials another one, the Client of Dial is of no use any more. The
// goroutine of the call that was given up ends when its read fails, a moment
// after the call has returned.
package redigo

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/gomodule/redigo/redis"

	"rcbench/adapters"
)

// Driver is redigo.
var Driver adapters.Driver = driver{}

type driver struct{}

var _ adapters.Driver = driver{}

func (driver) Name() string    { return "redigo" }
func (driver) Version() string { return adapters.LinkedVersion(redis.Dial) }

func (driver) Lacks() map[adapters.Capability]string { return lacks }

var lacks = map[adapters.Capability]string{
	adapters.CapMultiplex: "a redigo Conn supports one concurrent caller",
	adapters.CapAsync:     "redigo has explicit pipelines only (Send, Flush, Receive)",
	adapters.CapRESP3:     "redigo has no HELLO and reads RESP2 replies only",
}

func (driver) Dial(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	c, err := dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &client{source: single{c}, addr: cfg.Addr}, nil
}

func (d driver) Share(context.Context, adapters.Config) (adapters.Client, error) {
	return nil, adapters.Lacking(d, adapters.CapMultiplex)
}

func (driver) Open(ctx context.Context, cfg adapters.Config, conns int) (adapters.Client, error) {
	p, err := openPool(ctx, cfg, conns)
	if err != nil {
		return nil, err
	}
	return &client{source: p, addr: cfg.Addr}, nil
}

// dial makes one connection, authenticated and with its database selected.
func dial(ctx context.Context, cfg adapters.Config) (redis.Conn, error) {
	if err := check(cfg, 1); err != nil {
		return nil, adapters.DialError("redigo", cfg, err)
	}
	if cfg.DialTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cfg.DialTimeout)
		defer cancel()
	}
	var c redis.Conn
	var err error
	if cfg.TLS != nil {
		c, err = dialTLS(ctx, cfg)
	} else {
		c, err = redis.DialContext(ctx, cfg.Network, cfg.Addr, options(cfg)...)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		err = ctx.Err() // rather than what it did to the socket
	case err != nil:
		err = reply(err)
	}
	return c, adapters.DialError("redigo", cfg, err)
}

// check rejects what redigo would ignore.
func check(cfg adapters.Config, conns int) error {
	if cfg.Protocol == 3 {
		return fmt.Errorf("protocol 3: %w: %s", adapters.ErrUnsupported, lacks[adapters.CapRESP3])
	}
	return cfg.Check(conns)
}

func options(cfg adapters.Config) []redis.DialOption {
	var opts []redis.DialOption
	if cfg.Password != "" {
		opts = append(opts, redis.DialUsername(cfg.Username), redis.DialPassword(cfg.Password))
	}
	if cfg.DB != 0 {
		opts = append(opts, redis.DialDatabase(cfg.DB))
	}
	if d := cfg.DialTimeout; d > 0 {
		opts = append(opts, redis.DialConnectTimeout(d), redis.DialTLSHandshakeTimeout(d))
	}
	if d := cfg.IOTimeout; d > 0 {
		opts = append(opts, redis.DialReadTimeout(d), redis.DialWriteTimeout(d))
	}
	return opts
}

// dialTLS closes the socket when ctx ends, because redigo's TLS handshake
// looks at its own timeout only. DialContextFunc, which it takes to know the
// socket, puts our net.Dialer in the place of redigo's, so that its defaults,
// 30 s and 5 min, are repeated here.
func dialTLS(ctx context.Context, cfg adapters.Config) (redis.Conn, error) {
	d := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 5 * time.Minute}
	if cfg.DialTimeout > 0 {
		d.Timeout = cfg.DialTimeout
	}
	stop := func() bool { return true }
	opts := append(options(cfg), redis.DialUseTLS(true), redis.DialTLSConfig(cfg.TLS),
		redis.DialContextFunc(func(ctx context.Context, network, addr string) (net.Conn, error) {
			nc, err := d.DialContext(ctx, network, addr)
			if err == nil {
				stop = context.AfterFunc(ctx, func() { nc.Close() })
			}
			return nc, err
		}))
	c, err := redis.DialContext(ctx, cfg.Network, cfg.Addr, opts...)
	if !stop() && err == nil {
		c.Close()
		return nil, ctx.Err()
	}
	return c, err
}

// A source lends the connections that the commands of a client use. A Conn
// that failed is given back like any other.
type source interface {
	get(ctx context.Context) (redis.Conn, error)
	put(redis.Conn)
	Close() error
}

// single is the source of Dial.
type single struct{ c redis.Conn }

func (s single) get(context.Context) (redis.Conn, error) { return s.c, nil }
func (s single) put(redis.Conn)                          {}

// Close may be called while a command is in flight. The documentation of
// redigo excludes that, but its conn.Close only closes the socket, under the
// lock with which redigo itself closes it to "unblock other reader or writer"
// (conn.fatal).
func (s single) Close() error {
	if s.c.Err() != nil {
		return nil // failed before, and closed by redigo then
	}
	return s.c.Close()
}
