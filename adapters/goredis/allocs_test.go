package goredis

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"rcbench/adapters/internal/canned"
)

// TestAllocs holds the adapter to what go-redis itself allocates.
func TestAllocs(t *testing.T) {
	cfg := canned.Serve(t)
	ctx := t.Context()
	direct := func() *redis.Client {
		opt, err := Options(cfg, 1)
		if err != nil {
			t.Fatal(err)
		}
		rdb := redis.NewClient(opt)
		t.Cleanup(func() { rdb.Close() })
		return rdb
	}

	pool, err := Driver.Open(ctx, cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	rdb := direct()
	canned.NoMore(t, "open",
		func() ([]byte, error) { return rdb.Get(ctx, canned.Key).Bytes() },
		func() ([]byte, error) { return pool.Get(ctx, canned.Key) })

	one, err := Driver.Dial(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	// Of a client that has not used the connection: for 5 s after one was given
	// back to the pool a Conn does not look for push messages.
	conn := direct().Conn()
	canned.NoMore(t, "dial",
		func() ([]byte, error) { return conn.Get(ctx, canned.Key).Bytes() },
		func() ([]byte, error) { return one.Get(ctx, canned.Key) })
}
