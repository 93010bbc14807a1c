package bench

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"rcbench/adapters"
	"rcbench/bench/internal/corpus"
	"rcbench/bench/internal/param"
)

// BenchmarkSetGet: one op is a SET and a GET of each of 10,000 numbers, after
// connecting with conn=fresh: the second test of the study of four PHP stacks.
func BenchmarkSetGet(b *testing.B) { setGet.run(b) }

var setGet = workload{
	Family: param.Family{
		Name:        "SetGet",
		Conns:       []string{param.Own, param.Fresh},
		Nets:        []string{"tcp"},
		Goroutines:  []int{1},
		Keys:        []int{10000},
		FreshSetups: stock,
	},
	claims: func(c param.Case) map[string]int64 {
		return map[string]int64{"set": int64(c.Keys), "get": int64(c.Keys)}
	},
	worker: func(s *session, id int) exchange { return setAndGet(id, s.Keys) },
	warmer: func(s *session, id int) exchange { return setAndGet(id, 1) },
}

func setAndGet(id, n int) exchange {
	keys, values := make([]string, n), make([]string, n)
	for i := range n {
		values[i] = strconv.Itoa(i)
		keys[i] = corpus.Prefix + "number:" + strconv.Itoa(id) + ":" + values[i]
	}
	return func(ctx context.Context, c adapters.Client) error {
		for i, key := range keys {
			if err := c.Set(ctx, key, values[i]); err != nil {
				return fmt.Errorf("SET %s: %w", key, err)
			}
			v, err := c.Get(ctx, key)
			if err != nil {
				return fmt.Errorf("GET %s: %w", key, err)
			}
			if string(v) != values[i] {
				return fmt.Errorf("GET %s: %.20q, want %q", key, v, values[i])
			}
		}
		return nil
	}
}
