// Package radix drives github.com/mediocregopher/radix/v4.
//
// On connect radix sends nothing unless it is asked to: HELLO for a Protocol,
// with the password in it; else AUTH for a password; then SELECT for a
// database other than 0, each in a round trip of its own. A Conn has two
// goroutines, and a buffer of 4 KiB each way.
//
//	conn=own, conn=fresh  Dialer.Dial: one Conn
//	conn=shared           the same, and used by all goroutines, which is what
//	                      radix says a Conn is for: "When multiple Actions
//	                      are performed against a single Conn concurrently the
//	                      Conn will automatically pipeline" (its CHANGELOG)
//	conn=pool             PoolConfig with Size n; Open waits until the n are
//	                      there, because radix itself waits for the first only
//
// Stock has the pool send a PING each 5 s / n, on one of its connections.
// Lean turns that off, and is the same otherwise. WriteFlushInterval, which
// makes a Conn collect the commands of several goroutines into one write, is
// off by default and stays off: each command is a write of its own, also on a
// shared Conn.
//
// Note: a radix Pool is a multiplexed client. It lends a connection for
// commands that block in the server only (BLPOP, for example); all others go
// to a connection picked at random, also if that one is busy, and nobody
// waits. Read conn=pool of radix beside conn=shared of others.
//
// Note: what a context can end. A command in flight ends with its context
// where it is the first on its Conn that waits for a reply. One behind it
// waits until the first is answered; and so does, whatever its own context
// says, each command on a Conn on which an earlier one was given up, because
// radix reads the late reply before it goes on (conn.doDiscard).
package radix

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"

	"github.com/mediocregopher/radix/v4"
	"github.com/mediocregopher/radix/v4/resp/resp3"

	"rcbench/adapters"
)

// Driver is radix.
var Driver adapters.Driver = driver{}

type driver struct{}

var _ adapters.Driver = driver{}

func (driver) Name() string    { return "radix" }
func (driver) Version() string { return adapters.LinkedVersion(radix.Dial) }

func (driver) Lacks() map[adapters.Capability]string { return nil }

func (driver) Dial(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	conn, err := dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &client{radix: conn, addr: cfg.Addr}, nil
}

func (driver) Share(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	conn, err := dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &shared{client{radix: conn, addr: cfg.Addr}}, nil
}

func (driver) Open(ctx context.Context, cfg adapters.Config, conns int) (adapters.Client, error) {
	p, err := openPool(ctx, cfg, conns)
	if err != nil {
		return nil, err
	}
	return &client{radix: p.Client, pool: p, addr: cfg.Addr}, nil
}

// dial makes one connection, with its handshake done.
func dial(ctx context.Context, cfg adapters.Config) (radix.Conn, error) {
	if err := check(cfg, 1); err != nil {
		return nil, adapters.DialError("radix", cfg, err)
	}
	if cfg.DialTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cfg.DialTimeout)
		defer cancel()
	}
	conn, err := dialer(cfg).Dial(ctx, cfg.Network, cfg.Addr)
	if err != nil {
		if e := replyError(err); e != nil {
			err = e
		}
		return nil, adapters.DialError("radix", cfg, err)
	}
	return conn, nil
}

// check rejects what radix would ignore.
func check(cfg adapters.Config, conns int) error {
	if cfg.IOTimeout > 0 {
		return fmt.Errorf("I/O timeout: %w: radix takes its time limits from contexts", adapters.ErrUnsupported)
	}
	return cfg.Check(conns)
}

func dialer(cfg adapters.Config) radix.Dialer {
	d := radix.Dialer{AuthUser: cfg.Username, AuthPass: cfg.Password}
	if cfg.Protocol != 0 {
		d.Protocol = strconv.Itoa(cfg.Protocol)
	}
	if cfg.DB != 0 {
		d.SelectDB = strconv.Itoa(cfg.DB)
	}
	if cfg.TLS != nil {
		d.NetDialer = &tls.Dialer{Config: cfg.TLS}
	}
	return d
}

// replyError is the error reply that err wraps, or nil.
func replyError(err error) error {
	var simple resp3.SimpleError
	if errors.As(err, &simple) {
		return adapters.ReplyError(simple.S)
	}
	var blob resp3.BlobError
	if errors.As(err, &blob) {
		return adapters.ReplyError(blob.B)
	}
	return nil
}
