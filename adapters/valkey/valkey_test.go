package valkey

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"rcbench/adapters"
)

// What is peculiar to valkey-go; the contract is checked by adaptertest.

func config(s *miniredis.Miniredis, setup adapters.Setup) adapters.Config {
	return adapters.Config{Network: "tcp", Addr: s.Addr(), Setup: setup}
}

// valkey-go's own pool opens one more connection for each of these contexts.
func TestPoolKeepsItsSizeAfterDoneContexts(t *testing.T) {
	const conns = 3
	s := miniredis.RunT(t)
	c, err := Driver.Open(t.Context(), config(s, adapters.Lean), conns)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	done, cancel := context.WithCancel(t.Context())
	cancel()
	b := c.NewBatch(1)
	for range conns {
		if _, err := c.Get(done, "k"); !errors.Is(err, context.Canceled) {
			t.Errorf("Get with a cancelled context: got error %v, want %v", err, context.Canceled)
		}
		b.Incr("k")
		if err := b.Exec(done); !errors.Is(err, context.Canceled) {
			t.Errorf("Exec with a cancelled context: got error %v, want %v", err, context.Canceled)
		}
		b.Reset()
	}

	var wg sync.WaitGroup
	for range 4 * conns { // More callers than connections, all at once.
		wg.Go(func() { _, _ = c.Do(t.Context(), "BLPOP", "missing", "0.1") })
	}
	wg.Wait()
	if got := s.TotalConnectionCount(); got != conns {
		t.Errorf("connections that the server has accepted: got %d, want %d", got, conns)
	}
}

func TestStockNeedsWhatItTurnsOn(t *testing.T) {
	s := miniredis.RunT(t) // Has no CLIENT TRACKING, and answers CLUSTER SLOTS.
	for _, test := range []struct {
		protocol int
		says     string
	}{
		{0, "TRACKING"},
		{2, "CLUSTER SLOTS"},
	} {
		cfg := config(s, adapters.Stock)
		cfg.Protocol = test.protocol
		c, err := Driver.Dial(t.Context(), cfg)
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, adapters.ErrUnsupported) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("Dial with protocol %d: got error %v, want %q in one that wraps %q",
				test.protocol, err, test.says, adapters.ErrUnsupported)
		}
	}
}

// MULTI within MULTI is refused, and so is what follows.
func TestRefusedTransaction(t *testing.T) {
	s := miniredis.RunT(t)
	c, err := Driver.Dial(t.Context(), config(s, adapters.Lean))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Do(t.Context(), "MULTI"); err != nil {
		t.Fatal(err)
	}
	b := c.NewBatch(2)
	b.Set("k", "v")
	b.Get("k")
	if err := b.ExecTx(t.Context()); !errors.Is(err, adapters.ErrReply) {
		t.Errorf("ExecTx within MULTI: got error %v, want one that wraps %q", err, adapters.ErrReply)
	}
	for i := range b.Len() {
		if err := b.Err(i); !errors.Is(err, adapters.ErrReply) {
			t.Errorf("Err(%d): got %v, want one that wraps %q", i, err, adapters.ErrReply)
		}
	}
}
