package redigo

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gomodule/redigo/redis"

	"rcbench/adapters"
)

// pool is a redis.Pool, and the list of its connections, which redigo does
// not give out: its Close leaves those alone that are in use.
type pool struct {
	redis  redis.Pool
	life   context.Context // ends with Close
	cancel context.CancelFunc

	mu     sync.Mutex
	closed bool
	conns  []redis.Conn
	dials  sync.WaitGroup
}

var errClosed = errors.New("redigo: client is closed")

func openPool(ctx context.Context, cfg adapters.Config, conns int) (*pool, error) {
	if err := check(cfg, conns); err != nil {
		return nil, adapters.DialError("redigo", cfg, err)
	}
	p := &pool{}
	p.life, p.cancel = context.WithCancel(context.Background())
	p.redis.MaxIdle = conns
	p.redis.MaxActive = conns
	p.redis.Wait = true
	p.redis.DialContext = func(ctx context.Context) (redis.Conn, error) { return p.dial(ctx, cfg) }

	// A Pool dials when a caller finds no idle connection, so take them all.
	taken := make([]redis.Conn, 0, conns)
	var err error
	for range conns {
		var c redis.Conn
		if c, err = p.redis.GetContext(ctx); err != nil {
			break
		}
		taken = append(taken, c)
	}
	for _, c := range taken {
		c.Close()
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// dial is the pool's DialContext.
func (p *pool) dial(ctx context.Context, cfg adapters.Config) (redis.Conn, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errClosed
	}
	p.dials.Add(1)
	p.mu.Unlock()
	defer p.dials.Done()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.life, cancel)()
	c, err := dial(ctx, cfg)
	if err != nil {
		return nil, err
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.Close()
		return nil, errClosed
	}
	// A new connection takes the place of one that failed, and Err is not
	// nil for good then.
	p.conns = slices.DeleteFunc(p.conns, func(c redis.Conn) bool { return c.Err() != nil })
	p.conns = append(p.conns, c)
	return c, nil
}

func (p *pool) get(ctx context.Context) (redis.Conn, error) { return p.redis.GetContext(ctx) }

func (p *pool) put(c redis.Conn) {
	c.Close() // its error repeats that of the command
}

// Close closes every connection, in use or not. Callers that wait for one then
// get a closed one or fail to dial, and hand the turn to the next.
//
// Note: redis.Pool.Close is not called. It would close the idle connections
// once more, and the channel that callers wait on: one of them whose context
// ends at that moment puts its turn back into the closed channel
// (Pool.waitVacantConn), which panics.
func (p *pool) Close() error {
	p.mu.Lock()
	conns := p.conns
	p.closed, p.conns = true, nil
	p.mu.Unlock()

	p.cancel()
	var errs []error
	for _, c := range conns {
		errs = append(errs, single{c}.Close())
	}
	p.dials.Wait()
	return errors.Join(errs...)
}
