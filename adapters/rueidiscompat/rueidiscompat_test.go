package rueidiscompat

import (
	"errors"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"rcbench/adapters"
)

// What is peculiar to rueidiscompat; the contract is checked by adaptertest.

func dial(t *testing.T) adapters.Client {
	t.Helper()
	s := miniredis.RunT(t)
	c, err := Driver.Dial(t.Context(), adapters.Config{Network: "tcp", Addr: s.Addr(), Setup: adapters.Lean})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A TxPipeline that is refused as a whole leaves its commands with an error of
// rueidiscompat's own.
func TestRefusedTransaction(t *testing.T) {
	c := dial(t)
	if _, err := c.Do(t.Context(), "MULTI"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), "GET"); err == nil { // Spoils what EXEC comes to.
		t.Fatal("GET without a key: got no error")
	}
	b := c.NewBatch(2)
	b.Set("k", "v")
	b.Get("k")
	if err := b.ExecTx(t.Context()); !errors.Is(err, adapters.ErrReply) {
		t.Errorf("ExecTx of a spoilt transaction: got error %v, want one that wraps %q", err, adapters.ErrReply)
	}
	for i := range b.Len() {
		if err := b.Err(i); !errors.Is(err, adapters.ErrReply) {
			t.Errorf("Err(%d): got %v, want one that wraps %q", i, err, adapters.ErrReply)
		}
	}
}

// rueidiscompat panics on a field without a value.
func TestOddPairsAreForTheServer(t *testing.T) {
	c := dial(t)
	if err := c.MSet(t.Context(), "k", "v", "odd"); !errors.Is(err, adapters.ErrReply) {
		t.Errorf("MSet of 3 strings: got error %v, want one that wraps %q", err, adapters.ErrReply)
	}
	if _, err := c.HSet(t.Context(), "h", "f", "v", "odd"); !errors.Is(err, adapters.ErrReply) {
		t.Errorf("HSet of 3 strings: got error %v, want one that wraps %q", err, adapters.ErrReply)
	}
}
