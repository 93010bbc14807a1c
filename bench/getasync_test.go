package bench

import (
	"context"
	"fmt"
	"testing"

	"rcbench/adapters"
	"rcbench/bench/internal/param"
)

// BenchmarkGetAsync: one op is loop GETs in flight at once on one client, then
// all awaited: what the study of Lettuce meant to measure, and did not,
// because it awaited each future inside its loop.
func BenchmarkGetAsync(b *testing.B) { getAsync.run(b) }

var getAsync = workload{
	Family: param.Family{
		Name:       "GetAsync",
		Conns:      []string{param.Shared},
		Nets:       []string{"tcp"},
		Goroutines: studyGoroutines,
		Values:     []param.Size{param.DefaultValue},
		Keyspaces:  []int{param.DefaultKeyspace},
		Loops:      studyLoops,
		Async:      true,
	},
	claims: func(c param.Case) map[string]int64 {
		return map[string]int64{"get": int64(c.Loop)}
	},
	keys: true,
	worker: func(s *session, id int) exchange {
		i := s.firstKey(id)
		keys := make([]string, s.Loop)
		values := make([][]byte, s.Loop)
		return func(ctx context.Context, c adapters.Client) error {
			async, ok := c.(adapters.Async)
			if !ok {
				return fmt.Errorf("%s: %T does not implement adapters.Async, which its driver says it does", s.Driver.Name(), c)
			}
			first := i
			for d := range keys {
				keys[d] = s.corpus.Key(i)
				i = s.corpus.Next(i)
			}
			if err := async.GetAll(ctx, keys, values); err != nil {
				return err
			}
			for d, k := 0, first; d < len(values); d, k = d+1, s.corpus.Next(k) {
				if err := s.checkValue(k, values[d], nil); err != nil {
					return err
				}
			}
			return nil
		}
	},
}
