package bench

import (
	"context"
	"fmt"
	"testing"

	"rcbench/adapters"
	"rcbench/bench/internal/param"
)

// The parameters that the study of Jedis and Lettuce varied.
var (
	studyGoroutines = []int{100}
	studyLoops      = []int{1, 10, 100}
	stock           = []adapters.Setup{adapters.Stock}
)

// BenchmarkGet: one op is loop GETs, one after another, each reply awaited and
// checked.
func BenchmarkGet(b *testing.B) { get.run(b) }

var get = workload{
	Family: param.Family{
		Name:        "Get",
		Conns:       []string{param.Own, param.Shared, param.Pool, param.Fresh},
		Nets:        []string{"tcp"},
		Goroutines:  studyGoroutines,
		Values:      []param.Size{param.DefaultValue},
		Keyspaces:   []int{param.DefaultKeyspace},
		Loops:       studyLoops,
		FreshSetups: stock,
	},
	claims: func(c param.Case) map[string]int64 {
		return map[string]int64{"get": int64(c.Loop)}
	},
	keys: true,
	worker: func(s *session, id int) exchange {
		i := s.firstKey(id)
		return func(ctx context.Context, c adapters.Client) error {
			for range s.Loop {
				v, err := c.Get(ctx, s.corpus.Key(i))
				if err := s.checkValue(i, v, err); err != nil {
					return err
				}
				i = s.corpus.Next(i)
			}
			return nil
		}
	},
}

// firstKey spreads the workers over the keyspace, so that they do not ask for
// the same key at the same time.
func (s *session) firstKey(id int) int {
	return id * (s.corpus.Len()/s.Goroutines + 1) % s.corpus.Len()
}

// checkValue holds the reply to a GET of key i against the corpus.
func (s *session) checkValue(i int, v []byte, err error) error {
	if err != nil {
		return fmt.Errorf("GET %s: %w", s.corpus.Key(i), err)
	}
	if want := s.corpus.Value(i); string(v) != want {
		return fmt.Errorf("GET %s: %d bytes %.20q, want %d bytes %.20q", s.corpus.Key(i), len(v), v, len(want), want)
	}
	return nil
}
