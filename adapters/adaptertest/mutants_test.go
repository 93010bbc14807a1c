package adaptertest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rcbench/adapters"
	"rcbench/adapters/resp"
)

// The clients and batches of the broken drivers. Each is wrong in one method,
// as far as that is possible, so that the other checks have nothing to find.

type wrongLength struct{ adapters.Client }

func (c wrongLength) Strlen(ctx context.Context, key string) (int64, error) {
	n, err := c.Client.Strlen(ctx, key)
	return n + 1, err
}

type firstField struct{ adapters.Client }

func (c firstField) HSet(ctx context.Context, key string, fields ...string) (int64, error) {
	return c.Client.HSet(ctx, key, fields[:2]...)
}

type upsideDown struct{ adapters.Client }

func (c upsideDown) LRange(ctx context.Context, key string, start, stop int64) ([]string, error) {
	all, err := c.Client.LRange(ctx, key, start, stop)
	slices.Reverse(all)
	return all, err
}

type countsAll struct{ adapters.Client }

func (c countsAll) SAdd(ctx context.Context, key string, members ...string) (int64, error) {
	_, err := c.Client.SAdd(ctx, key, members...)
	return int64(len(members)), err
}

type singlePrecision struct{ adapters.Client }

func (c singlePrecision) ZPopMin(ctx context.Context, key string) (adapters.Scored, error) {
	s, err := c.Client.ZPopMin(ctx, key)
	s.Score = float64(float32(s.Score))
	return s, err
}

type deletesOne struct{ adapters.Client }

func (c deletesOne) Del(ctx context.Context, keys ...string) (int64, error) {
	return c.Client.Del(ctx, keys[0])
}

type nilIsEmpty struct{ adapters.Client }

func (c nilIsEmpty) RPop(ctx context.Context, key string) ([]byte, error) {
	v, err := c.Client.RPop(ctx, key)
	if errors.Is(err, adapters.ErrNil) {
		return []byte{}, nil
	}
	return v, err
}

type swallows struct{ adapters.Client }

func (c swallows) HSet(ctx context.Context, key string, fields ...string) (int64, error) {
	n, err := c.Client.HSet(ctx, key, fields...)
	if errors.Is(err, adapters.ErrReply) {
		err = nil
	}
	return n, err
}

type loses struct{ adapters.Client }

func (c loses) RPush(ctx context.Context, key string, values ...string) (int64, error) {
	n, err := c.Client.RPush(ctx, key, values...)
	if errors.Is(err, adapters.ErrReply) {
		err = adapters.ErrReply
	}
	return n, err
}

type gullible struct{ adapters.Client }

func (c gullible) Set(ctx context.Context, key, value string) error {
	return second(c.Client.Do(ctx, "SET", key, value))
}

type flat struct{ adapters.Client }

func (c flat) Do(ctx context.Context, args ...string) (any, error) {
	v, err := c.Client.Do(ctx, args...)
	elements, ok := v.([]any)
	if !ok {
		return v, err
	}
	all := []any{}
	for _, e := range elements {
		if inner, ok := e.([]any); ok {
			all = append(all, inner...)
		} else {
			all = append(all, e)
		}
	}
	return all, err
}

type lineByLine struct{ adapters.Client }

func (c lineByLine) SPop(ctx context.Context, key string) ([]byte, error) {
	v, err := c.Client.SPop(ctx, key)
	line, _, _ := bytes.Cut(v, []byte("\r\n"))
	return line, err
}

type handsOut struct {
	adapters.Client
	mu     sync.Mutex
	buffer []byte
}

func (c *handsOut) LPop(ctx context.Context, key string) ([]byte, error) {
	v, err := c.Client.LPop(ctx, key)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.buffer == nil {
		c.buffer = make([]byte, 0, 2<<20)
	}
	c.buffer = append(c.buffer[:0], v...)
	return c.buffer, err
}

type appends struct{ adapters.Client }

func (c appends) MSet(ctx context.Context, pairs ...string) error {
	return c.Client.MSet(ctx, append(pairs, "END")[:len(pairs)]...)
}

// What reaches the server.

// caching forgets a key that it changes itself, as client-side caches do; what
// others change it does not see.
type caching struct {
	adapters.Client
	mu     sync.Mutex
	values map[string][]byte
}

func (c *caching) Get(ctx context.Context, key string) ([]byte, error) {
	c.mu.Lock()
	v, ok := c.values[key]
	c.mu.Unlock()
	if ok && ctx.Err() == nil {
		return bytes.Clone(v), nil
	}
	v, err := c.Client.Get(ctx, key)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.values[key] = bytes.Clone(v)
	}
	return v, err
}

func (c *caching) forget(keys ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		delete(c.values, key)
	}
}

func (c *caching) Set(ctx context.Context, key, value string) error {
	c.forget(key)
	return c.Client.Set(ctx, key, value)
}

func (c *caching) Del(ctx context.Context, keys ...string) (int64, error) {
	c.forget(keys...)
	return c.Client.Del(ctx, keys...)
}

type insists struct{ adapters.Client }

func (c insists) ZAdd(ctx context.Context, key string, members ...adapters.Scored) (int64, error) {
	n, err := c.Client.ZAdd(ctx, key, members...)
	if errors.Is(err, adapters.ErrReply) {
		n, err = c.Client.ZAdd(ctx, key, members...)
	}
	return n, err
}

// hasty loses its patience. It does not return at once because the connection
// must be free for the commands of the other checks.
type hasty struct{ adapters.Client }

const patience = meanwhile / 2

func (c hasty) ZAdd(ctx context.Context, key string, members ...adapters.Scored) (int64, error) {
	type result struct {
		n   int64
		err error
	}
	answered := async(func() result {
		n, err := c.Client.ZAdd(ctx, key, members...)
		return result{n, err}
	})
	select {
	case r := <-answered:
		return r.n, r.err
	case <-time.After(patience):
		return 1, nil
	}
}

// Concurrency.

// mixesUp keeps the key of the current command in the client, as code does
// that was written for one goroutine. The atomic keeps the race detector out
// of it: the suite must find this by itself.
type mixesUp struct {
	adapters.Client
	key atomic.Pointer[string]
}

func (c *mixesUp) Get(ctx context.Context, key string) ([]byte, error) {
	c.key.Store(&key)
	runtime.Gosched()
	return c.Client.Get(ctx, *c.key.Load())
}

type asyncClient struct {
	adapters.Client
	adapters.Async
}

func both(c adapters.Client) asyncClient { return asyncClient{c, c.(adapters.Async)} }

type oneAtATime struct {
	asyncClient
	mu sync.Mutex
}

func (c *oneAtATime) Get(ctx context.Context, key string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asyncClient.Get(ctx, key)
}

type outOfOrder struct{ asyncClient }

func (c outOfOrder) GetAll(ctx context.Context, keys []string, values [][]byte) error {
	err := c.asyncClient.GetAll(ctx, keys, values)
	slices.Reverse(values)
	return err
}

type oneByOne struct{ asyncClient }

func (c oneByOne) GetAll(ctx context.Context, keys []string, values [][]byte) error {
	var first error
	for i, key := range keys {
		v, err := c.Get(ctx, key)
		if values[i] = v; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// overflows pings on a connection of its own when all others are busy.
type overflows struct {
	adapters.Client
	cfg adapters.Config
}

func (c overflows) Ping(ctx context.Context) error {
	answered := async(func() error { return c.Client.Ping(ctx) })
	select {
	case err := <-answered:
		return err
	case <-time.After(patience):
	}
	other, err := resp.Driver.Dial(ctx, c.cfg)
	if err != nil {
		return err
	}
	defer other.Close()
	return other.Ping(ctx)
}

// Connections.

type spare struct {
	adapters.Client
	other adapters.Client
}

func withSpare(c adapters.Client, cfg adapters.Config) adapters.Client {
	other, err := resp.Driver.Dial(context.Background(), cfg)
	if err != nil {
		return c
	}
	return spare{c, other}
}

func (c spare) Close() error { return errors.Join(c.Client.Close(), c.other.Close()) }

// Contexts.

type careless struct{ adapters.Client }

func (c careless) Strlen(ctx context.Context, key string) (int64, error) {
	return c.Client.Strlen(context.WithoutCancel(ctx), key)
}

// bound closes its clients when the context that they were opened with ends.
type bound struct{ mutant }

func (d bound) Dial(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	return bind(ctx)(d.mutant.Dial(ctx, cfg))
}

func (d bound) Open(ctx context.Context, cfg adapters.Config, conns int) (adapters.Client, error) {
	return bind(ctx)(d.mutant.Open(ctx, cfg, conns))
}

func bind(ctx context.Context) func(adapters.Client, error) (adapters.Client, error) {
	return func(c adapters.Client, err error) (adapters.Client, error) {
		if err == nil {
			context.AfterFunc(ctx, func() { c.Close() })
		}
		return c, err
	}
}

// deaf does not hear one of the two ways in which a context ends.
type deaf struct {
	adapters.Client
	toCancel, toDeadline bool
}

func (c deaf) Set(ctx context.Context, key, value string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	heard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		expired := errors.Is(ctx.Err(), context.DeadlineExceeded)
		if expired && !c.toDeadline || !expired && !c.toCancel {
			cancel()
		}
	})()
	return c.Client.Set(heard, key, value)
}

// Faults, and the end.

func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

type partial struct{ adapters.Client }

func (c partial) Get(ctx context.Context, key string) ([]byte, error) {
	v, err := c.Client.Get(ctx, key)
	if ended(err) {
		return []byte(strings.Repeat("x", 992)), nil
	}
	return v, err
}

type reconnects struct {
	adapters.Client
	cfg adapters.Config
}

func (c reconnects) Get(ctx context.Context, key string) ([]byte, error) {
	v, err := c.Client.Get(ctx, key)
	if !ended(err) {
		return v, err
	}
	other, err := resp.Driver.Dial(ctx, c.cfg)
	if err != nil {
		return nil, err
	}
	defer other.Close()
	return other.Get(ctx, key)
}

type forgets struct{ adapters.Client }

func (c *forgets) Close() error { return nil }

type polite struct {
	adapters.Client
	inFlight sync.RWMutex
}

func (c *polite) Get(ctx context.Context, key string) ([]byte, error) {
	c.inFlight.RLock()
	defer c.inFlight.RUnlock()
	return c.Client.Get(ctx, key)
}

func (c *polite) Close() error {
	c.inFlight.Lock()
	defer c.inFlight.Unlock()
	return c.Client.Close()
}
