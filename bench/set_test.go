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

// BenchmarkSet: one op is loop SETs of an increasing counter to one key, as
// the study of predis and phpredis did. -benchtime=50000x, 100000x and 500000x
// give its totals.
func BenchmarkSet(b *testing.B) { set.run(b) }

var set = workload{
	Family: param.Family{
		Name:        "Set",
		Conns:       []string{param.Own},
		Nets:        []string{"tcp"},
		Goroutines:  []int{1},
		Loops:       studyLoops,
		FreshSetups: stock,
	},
	claims: func(c param.Case) map[string]int64 {
		return map[string]int64{"set": int64(c.Loop)}
	},
	worker: func(s *session, id int) exchange {
		key := corpus.Prefix + "counter:" + strconv.Itoa(id)
		var digits []byte
		n := 0
		return func(ctx context.Context, c adapters.Client) error {
			for range s.Loop {
				n++
				digits = strconv.AppendInt(digits[:0], int64(n), 10)
				if err := c.Set(ctx, key, string(digits)); err != nil {
					return fmt.Errorf("SET %s: %w", key, err)
				}
			}
			return nil
		}
	},
}
