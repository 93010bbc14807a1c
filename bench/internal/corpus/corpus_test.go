package corpus_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"

	"rcbench/bench/internal/corpus"
)

// hash is of all keys and values, in order.
func hash(c *corpus.Corpus) string {
	h := sha256.New()
	for i := range c.Len() {
		fmt.Fprintf(h, "%s %d %s\n", c.Key(i), len(c.Value(i)), c.Value(i))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// TestTheSameOnEveryMachine: a result is compared with one of last year only
// as long as both read the same bytes.
func TestTheSameOnEveryMachine(t *testing.T) {
	for _, tt := range []struct {
		n, size int
		want    string
	}{
		{1, 1, "bf8ce949166a8936"},
		{1000, 64, "935dbe5e8093e1e3"},
		{10, 1000, "952bd59be7e8ff8b"},
		{3, 64 << 10, "e7340324adf68507"},
	} {
		c := corpus.New("", tt.n, tt.size)
		if got := hash(c); got != tt.want {
			t.Errorf("New(%d, %d): hash %s, want %s; first value %.20q", tt.n, tt.size, got, tt.want, c.Value(0))
		}
	}
}

func TestSizesAreExact(t *testing.T) {
	for _, n := range []int{1, 2, 100, 1000} {
		for _, size := range []int{1, 2, 3, 9, 10, 11, 63, 64, 65, 1024, 16 << 10} {
			c := corpus.New("", n, size)
			if c.Len() != n {
				t.Errorf("New(%d, %d): %d keys", n, size, c.Len())
			}
			for i := range c.Len() {
				if len(c.Value(i)) != size {
					t.Fatalf("New(%d, %d): value %d has %d bytes", n, size, i, len(c.Value(i)))
				}
			}
		}
	}
}

func TestEmptyValues(t *testing.T) {
	c := corpus.New("", 10, 0)
	if c.Len() != 10 || c.Value(0) != "" || c.Value(9) != "" {
		t.Errorf("New(10, 0): %d keys, values %q and %q", c.Len(), c.Value(0), c.Value(9))
	}
}

// TestAReplyOfAnotherKeyIsNoticed: within the default keyspace no two values
// of the sizes that the workloads have are the same.
func TestAReplyOfAnotherKeyIsNoticed(t *testing.T) {
	for _, size := range []int{16, 64, 1024, 16 << 10} {
		c := corpus.New("", 1000, size)
		keys := map[string]int{}
		for i := range c.Len() {
			if j, ok := keys[c.Value(i)]; ok {
				t.Errorf("%d bytes: keys %d and %d have the value %.20q", size, i, j, c.Value(i))
			}
			keys[c.Value(i)] = i
		}
	}
}

func TestNeighboursDiffer(t *testing.T) {
	for _, size := range []int{3, 4, 8, 64, 1024} {
		c := corpus.New("", 1000, size)
		for i := range c.Len() {
			if next := c.Next(i); c.Value(i) == c.Value(next) {
				t.Errorf("%d bytes: keys %d and %d both have %.20q", size, i, next, c.Value(i))
			}
		}
	}
}

func TestKeysAreDistinctAndCarryThePrefix(t *testing.T) {
	seen := map[string]bool{}
	for _, size := range []int{1, 11, 64, 1024} { // all may be on one server
		c := corpus.New("", 1000, size)
		for i := range c.Len() {
			key := c.Key(i)
			if !strings.HasPrefix(key, corpus.Prefix) {
				t.Errorf("key %q, want the prefix %q", key, corpus.Prefix)
			}
			if seen[key] {
				t.Errorf("key %q of %d bytes is there already", key, size)
			}
			seen[key] = true
		}
	}
}

func TestNextWraps(t *testing.T) {
	for _, n := range []int{1, 2, 7} {
		c := corpus.New("", n, 64)
		visited := make([]int, n)
		i := 0
		for range 3 * n {
			visited[i]++
			i = c.Next(i)
		}
		if i != 0 {
			t.Errorf("%d keys: at %d after three rounds, want 0", n, i)
		}
		for i, times := range visited {
			if times != 3 {
				t.Errorf("%d keys: %d visited %d times in three rounds", n, i, times)
			}
		}
	}
}

// TestValuesStayWithinTheBudget: 64 MiB, or one value if that is larger.
func TestValuesStayWithinTheBudget(t *testing.T) {
	const budget = 64 << 20
	for _, tt := range []struct{ n, size, want int }{
		{1000, 64 << 10, 1000},
		{1025, 64 << 10, 1024},
		{1000, 1 << 20, 64},
		{64, 1 << 20, 64},
		{63, 1 << 20, 63},
		{1000, 3 << 20, 21},
		{1000, budget + 1, 1},
	} {
		if testing.Short() && tt.size > budget {
			t.Logf("SKIP a value of %d bytes: -short", tt.size)
			continue
		}
		c := corpus.New("", tt.n, tt.size)
		if c.Len() != tt.want {
			t.Errorf("New(%d, %d): %d keys, want %d", tt.n, tt.size, c.Len(), tt.want)
		}
		if last := c.Value(c.Len() - 1); len(last) != tt.size {
			t.Errorf("New(%d, %d): the last value has %d bytes", tt.n, tt.size, len(last))
		}
	}
}

func TestTextIsOneEndlessText(t *testing.T) {
	long := corpus.Text(10_000)
	if len(long) != 10_000 {
		t.Fatalf("Text(10000) has %d bytes", len(long))
	}
	for n := range 100 {
		if got := corpus.Text(n); got != long[:n] {
			t.Errorf("Text(%d) = %q, want %q", n, got, long[:n])
		}
	}
	// Text that compresses or repeats would flatter what compresses.
	counts := map[rune]int{}
	for _, r := range long {
		counts[r]++
	}
	if len(counts) != 64 {
		t.Errorf("Text has %d different characters, want 64", len(counts))
	}
	for r, n := range counts {
		if n < 100 || n > 220 { // 156 on average
			t.Errorf("%q is there %d times in 10000", r, n)
		}
		if r <= ' ' || r > '~' {
			t.Errorf("%q is not printable", r)
		}
	}
}

// TestConcurrentUse is for the race detector.
func TestConcurrentUse(t *testing.T) {
	c := corpus.New("", 10, 64)
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for i, n := 0, 0; n < 100; i, n = c.Next(i), n+1 {
				io.WriteString(io.Discard, c.Key(i)+c.Value(i))
			}
		})
	}
}
