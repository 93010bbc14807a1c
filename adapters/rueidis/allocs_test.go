package rueidis

import (
	"context"
	"testing"

	"github.com/redis/rueidis"

	"rcbench/adapters"
	"rcbench/adapters/internal/canned"
)

// TestAllocs holds the adapter to what rueidis itself allocates, for a lone
// caller. The context is one that cannot end: see the package comment.
func TestAllocs(t *testing.T) {
	cfg := canned.Serve(t)
	ctx := context.Background()
	for _, mode := range []struct {
		kind Kind
		open func() (adapters.Client, error)
	}{
		{Own, func() (adapters.Client, error) { return Driver.Dial(ctx, cfg) }},
		{Shared, func() (adapters.Client, error) { return Driver.Share(ctx, cfg) }},
		{Pool, func() (adapters.Client, error) { return Driver.Open(ctx, cfg, 1) }},
	} {
		c, err := mode.open()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		direct, err := rueidis.NewClient(options(cfg, mode.kind, 1))
		if err != nil {
			t.Fatal(err)
		}
		defer direct.Close()
		canned.NoMore(t, [...]string{"dial", "share", "open"}[mode.kind],
			func() ([]byte, error) {
				return direct.Do(ctx, direct.B().Get().Key(canned.Key).Build()).AsBytes()
			},
			func() ([]byte, error) { return c.Get(ctx, canned.Key) })
	}
}
