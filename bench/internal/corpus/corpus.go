// Package corpus makes the keys and values of the workloads: the same for
// every client, every run and every machine, because they come from a fixed
// seed.
package corpus

import (
	"math/rand/v2"
	"strconv"

	"rcbench/internal/target"
)

// Prefix begins every key that the suite writes, so that a guest on somebody
// else's server can remove what it wrote.
const Prefix = target.KeyPrefix

// budget bounds the bytes that a corpus puts on the server.
const budget = 64 << 20

// A Corpus is a list of keys, each with a value of its own. It is safe for
// concurrent use and never changes.
type Corpus struct {
	keys   []string
	values []string
}

// New returns n keys with values of size bytes, below name: fewer keys, but at
// least one, where n values would be over 64 MiB. Neighbouring values differ, so that a
// reply that belongs to another key is noticed; values of up to three bytes
// cannot promise that.
func New(name string, n, size int) *Corpus {
	if size > 0 {
		n = max(1, min(n, budget/size))
	}
	text := Text(size + n)
	c := &Corpus{keys: make([]string, n), values: make([]string, n)}
	for i := range n {
		c.keys[i] = Prefix + name + strconv.Itoa(size) + "B:" + strconv.Itoa(i)
		c.values[i] = text[i : i+size]
	}
	return c
}

// Len is the number of keys.
func (c *Corpus) Len() int { return len(c.keys) }

// Key and Value are those of index i, 0 <= i < Len.
func (c *Corpus) Key(i int) string   { return c.keys[i] }
func (c *Corpus) Value(i int) string { return c.values[i] }

// Next is the index after i, and 0 after the last.
func (c *Corpus) Next(i int) int {
	if i++; i < len(c.keys) {
		return i
	}
	return 0
}

// Text returns n bytes of letters and digits, a prefix of the same endless
// text whatever n is.
func Text(n int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, n+10)
	for len(b) < n {
		for bits, i := r.Uint64(), 0; i < 10; i++ {
			b = append(b, alphabet[bits&63])
			bits >>= 6
		}
	}
	return string(b[:n])
}
