package radix_test

import (
	"testing"

	client "github.com/mediocregopher/radix/v4"

	"rcbench/adapters/internal/canned"
	"rcbench/adapters/radix"
)

// TestAllocs holds the adapter to what radix itself allocates.
func TestAllocs(t *testing.T) {
	cfg := canned.Serve(t)
	ctx := t.Context()
	get := func(c client.Client) canned.Get {
		return func() (v []byte, err error) {
			err = c.Do(ctx, client.Cmd(&v, "GET", canned.Key))
			return v, err
		}
	}

	one, err := radix.Driver.Dial(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	conn, err := client.Dial(ctx, cfg.Network, cfg.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	canned.NoMore(t, "dial", get(conn), func() ([]byte, error) { return one.Get(ctx, canned.Key) })

	pool, err := radix.Driver.Open(ctx, cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	direct, err := client.PoolConfig{Size: 1, PingInterval: -1}.New(ctx, cfg.Network, cfg.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	canned.NoMore(t, "open", get(direct), func() ([]byte, error) { return pool.Get(ctx, canned.Key) })
}
