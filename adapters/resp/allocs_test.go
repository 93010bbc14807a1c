package resp

import (
	"context"
	"testing"

	"rcbench/adapters/internal/canned"
)

// TestAllocs keeps the floor the least there can be: a GET allocates the value
// that it returns.
func TestAllocs(t *testing.T) {
	cfg := canned.Serve(t)
	ctx := context.Background()
	one, err := Driver.Dial(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	pool, err := Driver.Open(ctx, cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for mode, get := range map[string]canned.Get{
		"dial": func() ([]byte, error) { return one.Get(ctx, canned.Key) },
		"open": func() ([]byte, error) { return pool.Get(ctx, canned.Key) },
	} {
		if got := canned.Allocs(t, get); got > 1 {
			t.Errorf("%s: allocations per GET: got %v, want at most 1, the value", mode, got)
		}
	}
}
