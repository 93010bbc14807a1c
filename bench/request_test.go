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

// BenchmarkRequest: one op is a web request of the study of predis and
// phpredis under ab: obtain a connection, SET so many keys, release it.
// conn=fresh is PHP's connect, conn=own its pconnect, where a worker keeps the
// connection for ever (conns/op proves it), and conn=pool what Go programs do:
// there the client takes a connection out of its pool for each command.
func BenchmarkRequest(b *testing.B) { request.run(b) }

var request = workload{
	Family: param.Family{
		Name:        "Request",
		Conns:       []string{param.Own, param.Pool, param.Fresh},
		Nets:        []string{"tcp"},
		Goroutines:  []int{50, 100},
		Values:      []param.Size{param.DefaultValue},
		Keys:        []int{1, 2, 20, 200, 2000},
		FreshSetups: stock,
	},
	claims: func(c param.Case) map[string]int64 {
		return map[string]int64{"set": int64(c.Keys)}
	},
	worker: func(s *session, id int) exchange { return setKeys(s, s.Keys) },
	warmer: func(s *session, id int) exchange { return setKeys(s, 1) },
}

// setKeys sets the first keys of the request, which all workers share, as the
// visitors of a page do.
func setKeys(s *session, n int) exchange {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = corpus.Prefix + "request:" + strconv.Itoa(i)
	}
	value := corpus.Text(int(s.Value))
	return func(ctx context.Context, c adapters.Client) error {
		for _, key := range keys {
			if err := c.Set(ctx, key, value); err != nil {
				return fmt.Errorf("SET %s: %w", key, err)
			}
		}
		return nil
	}
}
