package goredis

import (
	"context"
	"reflect"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"rcbench/adapters"
)

// Options returns what makes go-redis connect as cfg says, with conns
// connections that never become more or fewer.
//
// Note: MinIdleConns, the documented way to a pool that is full, is not among
// them. It dials in the background and leaves the handshake to the first
// command, so it cannot say when a pool is ready (PoolStats counts a
// connection before it is dialled), and its dials go on after Close. Connect
// takes every connection out once instead.
func Options(cfg adapters.Config, conns int) (*redis.Options, error) {
	if err := cfg.Check(conns); err != nil {
		return nil, err
	}
	opt := &redis.Options{
		Network:      cfg.Network,
		Addr:         cfg.Addr,
		Username:     cfg.Username,
		Password:     cfg.Password,
		DB:           cfg.DB,
		TLSConfig:    cfg.TLS,
		Protocol:     cfg.Protocol,
		DialTimeout:  cfg.DialTimeout,
		ReadTimeout:  cfg.IOTimeout,
		WriteTimeout: cfg.IOTimeout,

		PoolSize:        conns,
		ConnMaxIdleTime: -1, // by default a connection idle for 30 minutes is replaced
	}
	setIfThere(opt, "PipelinePoolSize", -1) // by default pipelines have up to 10 connections of their own
	if cfg.Setup == adapters.Lean {
		opt.DisableIdentity = true
		opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		opt.MaxRetries = -1
		opt.DialerRetries = 1 // by default five, 100 ms apart: a failed dial would look like a slow one
	}
	return opt, nil
}

// setIfThere sets an option that older versions of go-redis do not have, so
// that they can be compared with newer ones by the same adapter.
func setIfThere(opt *redis.Options, field string, value int64) {
	if f := reflect.ValueOf(opt).Elem().FieldByName(field); f.IsValid() {
		f.SetInt(value)
	}
}

// Connect returns a client whose connections are all established and idle.
func Connect(ctx context.Context, cfg adapters.Config, opt *redis.Options) (*redis.Client, error) {
	rdb, conns, err := connect(ctx, cfg, opt)
	if err != nil {
		return nil, err
	}
	for _, c := range conns {
		if err := c.Close(); err != nil { // gives the connection back to the pool
			rdb.Close()
			return nil, err
		}
	}
	return rdb, nil
}

// connect returns a client and its connections, all established and all taken
// out of the pool. They are made one after another, which is quick enough
// for a pool and not a storm.
func connect(ctx context.Context, cfg adapters.Config, opt *redis.Options) (*redis.Client, []*redis.Conn, error) {
	rdb := redis.NewClient(opt)
	conns := make([]*redis.Conn, opt.PoolSize)
	for i := range conns {
		conns[i] = rdb.Conn()
		if err := ping(ctx, cfg.DialTimeout, rdb, conns[i]); err != nil {
			rdb.Close()
			return nil, nil, translate(err)
		}
	}
	return rdb, conns, nil
}

// ping makes conn connect. go-redis leaves a dial when ctx is done but not a
// handshake, and its DialTimeout is for each of five attempts, so rdb is
// closed when either limit is reached.
func ping(ctx context.Context, limit time.Duration, rdb *redis.Client, conn *redis.Conn) error {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	if ctx.Done() == nil {
		return conn.Ping(ctx).Err()
	}
	stop := context.AfterFunc(ctx, func() { rdb.Close() })
	err := conn.Ping(ctx).Err()
	if !stop() {
		return ctx.Err()
	}
	return err
}
