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
// give its totals. With -values it is values of that size, which differ from one
// to the next.
func BenchmarkSet(b *testing.B) { set.run(b) }

var set = workload{
	Family: param.Family{
		Name:        "Set",
		Conns:       []string{param.Own},
		Nets:        []string{"tcp"},
		Goroutines:  []int{1},
		Values:      []param.Size{counter},
		Loops:       studyLoops,
		FreshSetups: stock,
	},
	claims: func(c param.Case) map[string]int64 {
		return map[string]int64{"set": int64(c.Loop)}
	},
	worker: func(s *session, id int) exchange {
		key := corpus.Prefix + "counter:" + strconv.Itoa(id)
		value := func(n int) string { return strconv.Itoa(n) }
		if s.Value != counter {
			const distinct = 1000
			text := corpus.Text(int(s.Value) + distinct)
			value = func(n int) string { return text[n%distinct:][:s.Value] }
		}
		n := 0
		return func(ctx context.Context, c adapters.Client) error {
			for range s.Loop {
				n++
				if err := c.Set(ctx, key, value(n)); err != nil {
					return fmt.Errorf("SET %s: %w", key, err)
				}
			}
			return nil
		}
	},
}

// counter is the size of a value that is the counter alone.
const counter param.Size = 0
