package radix

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mediocregopher/radix/v4"
	"github.com/mediocregopher/radix/v4/resp"
	"github.com/mediocregopher/radix/v4/trace"

	"rcbench/adapters"
)

// pool is a radix Pool that can be closed while the server does not answer.
// radix's own Close waits for the commands in flight, and those for their
// replies, so the connections must be closed first.
type pool struct {
	radix.Client
	cfg adapters.Config

	mu     sync.Mutex
	closed atomic.Bool // set under mu
	conns  map[*conn]struct{}

	life   context.Context // ends with Close
	cancel context.CancelFunc
	scarce atomic.Bool // the Pool may have run out of connections
}

var errClosed = errors.New("radix: client is closed")

func openPool(ctx context.Context, cfg adapters.Config, conns int) (*pool, error) {
	if err := check(cfg, conns); err != nil {
		return nil, adapters.DialError("radix", cfg, err)
	}
	p := &pool{cfg: cfg, conns: map[*conn]struct{}{}}
	p.life, p.cancel = context.WithCancel(context.Background())
	full, failed := make(chan struct{}), make(chan error, 1)
	config := radix.PoolConfig{
		Size:   conns,
		Dialer: radix.Dialer{CustomConn: p.dial},
		Trace: trace.PoolTrace{
			ConnCreated: func(t trace.PoolConnCreated) {
				if t.Err != nil {
					select {
					case failed <- t.Err:
					default:
					}
				}
			},
			ConnClosed:    func(trace.PoolConnClosed) { p.scarce.Store(true) },
			InitCompleted: func(trace.PoolInitCompleted) { close(full) },
		},
	}
	if cfg.Setup == adapters.Lean {
		config.PingInterval = -1
	}
	var err error
	if p.Client, err = config.New(ctx, cfg.Network, cfg.Addr); err != nil {
		p.cancel()
		return nil, err
	}
	// radix says that it is complete also if some of its dials failed: it
	// leaves those to its reconnects.
	select {
	case <-full:
		select {
		case err = <-failed:
		default:
		}
	case err = <-failed:
	case <-ctx.Done():
		err = adapters.DialError("radix", cfg, ctx.Err())
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// dial makes the connections of the Pool, in place of its Dialer.
func (p *pool) dial(ctx context.Context, _, _ string) (radix.Conn, error) {
	if p.closed.Load() {
		// No error, because radix sleeps for 100 ms after each of its
		// first n dials that fails, closed or not.
		return dead{}, nil
	}
	inner, err := dial(ctx, p.cfg)
	if err != nil {
		return nil, err
	}
	c := &conn{inner, p}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Load() {
		inner.Close()
		return dead{}, nil
	}
	p.conns[c] = struct{}{}
	return c, nil
}

// waitable returns the context to wait with. Where none is left of its
// connections, radix waits for one until the context ends, and Close does not
// end that; so an endless ctx is replaced by one that ends with Close.
//
// Note: not always, because all callers would then select on the one channel
// of that context, which showed as some 5 % more CPU a GET (100 goroutines).
func (p *pool) waitable(ctx context.Context) (context.Context, error) {
	if p.closed.Load() {
		return ctx, errClosed
	}
	if ctx.Done() == nil && p.scarce.Load() {
		return p.life, nil
	}
	return ctx, nil
}

func (p *pool) Close() error {
	p.mu.Lock()
	p.closed.Store(true)
	conns := slices.Collect(maps.Keys(p.conns))
	p.mu.Unlock()
	p.cancel()
	for _, c := range conns {
		c.Conn.Close() // its error says that radix has closed it before
	}
	return p.Client.Close()
}

// conn is a connection that the pool knows of. That costs each command one
// more call through an interface, and nothing else.
type conn struct {
	radix.Conn
	p *pool
}

// EncodeDecode keeps the Pool from discarding connections because Close has
// closed them. A caller that came too late would find none, and wait.
func (c *conn) EncodeDecode(ctx context.Context, marshal, unmarshalInto any) error {
	err := c.Conn.EncodeDecode(ctx, marshal, unmarshalInto)
	if err != nil && c.p.closed.Load() {
		return resp.ErrConnUsable{Err: errClosed}
	}
	return err
}

func (c *conn) Do(ctx context.Context, a radix.Action) error { return a.Perform(ctx, c) }

func (c *conn) Close() error {
	c.p.mu.Lock()
	delete(c.p.conns, c)
	c.p.mu.Unlock()
	return c.Conn.Close()
}

// dead is the connection that a closed pool dials.
type dead struct{}

func (dead) EncodeDecode(context.Context, any, any) error {
	return resp.ErrConnUsable{Err: errClosed}
}
func (dead) Do(context.Context, radix.Action) error { return errClosed }
func (dead) Addr() net.Addr                         { return nil }
func (dead) Close() error                           { return nil }
