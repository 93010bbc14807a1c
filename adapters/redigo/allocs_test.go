package redigo_test

import (
	"context"
	"testing"

	"github.com/gomodule/redigo/redis"

	"rcbench/adapters/internal/canned"
	"rcbench/adapters/redigo"
)

// TestAllocs holds the adapter to what redigo itself allocates. The context is
// one that cannot end: see the package comment.
func TestAllocs(t *testing.T) {
	cfg := canned.Serve(t)
	ctx := context.Background()

	one, err := redigo.Driver.Dial(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	conn, err := redis.Dial(cfg.Network, cfg.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	canned.NoMore(t, "dial",
		func() ([]byte, error) { return redis.Bytes(conn.Do("GET", canned.Key)) },
		func() ([]byte, error) { return one.Get(ctx, canned.Key) })

	pool, err := redigo.Driver.Open(ctx, cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	direct := &redis.Pool{MaxIdle: 1, MaxActive: 1, Wait: true, Dial: func() (redis.Conn, error) {
		return redis.Dial(cfg.Network, cfg.Addr)
	}}
	defer direct.Close()
	canned.NoMore(t, "open",
		func() ([]byte, error) {
			conn := direct.Get()
			defer conn.Close()
			return redis.Bytes(conn.Do("GET", canned.Key))
		},
		func() ([]byte, error) { return pool.Get(ctx, canned.Key) })
}
