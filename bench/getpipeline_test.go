package bench

import (
	"context"
	"testing"

	"rcbench/adapters"
	"rcbench/bench/internal/param"
)

// BenchmarkGetPipeline: one op is one explicit pipeline of depth GETs. Each
// worker keeps its Batch, as the contract of adapters.Batch says.
func BenchmarkGetPipeline(b *testing.B) { getPipeline.run(b) }

var getPipeline = workload{
	Family: param.Family{
		Name:       "GetPipeline",
		Conns:      []string{param.Own, param.Shared, param.Pool},
		Nets:       []string{"tcp"},
		Goroutines: studyGoroutines,
		Values:     []param.Size{param.DefaultValue},
		Keyspaces:  []int{param.DefaultKeyspace},
		Depths:     studyLoops,
	},
	claims: func(c param.Case) map[string]int64 {
		return map[string]int64{"get": int64(c.Depth)}
	},
	keys: true,
	worker: func(s *session, id int) exchange {
		i := s.firstKey(id)
		var batch adapters.Batch
		return func(ctx context.Context, c adapters.Client) error {
			if batch == nil {
				batch = c.NewBatch(s.Depth)
			}
			first := i
			for range s.Depth {
				batch.Get(s.corpus.Key(i))
				i = s.corpus.Next(i)
			}
			if err := batch.Exec(ctx); err != nil {
				return err
			}
			for d, k := 0, first; d < s.Depth; d, k = d+1, s.corpus.Next(k) {
				v, err := batch.Bytes(d)
				if err := s.checkValue(k, v, err); err != nil {
					return err
				}
			}
			batch.Reset()
			return nil
		}
	},
}
