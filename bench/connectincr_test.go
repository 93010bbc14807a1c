package bench

import (
	"testing"

	"rcbench/adapters"
	"rcbench/bench/internal/corpus"
	"rcbench/bench/internal/param"
)

// BenchmarkConnectIncr: one op connects, sends one INCR and closes. The
// difference between setup=stock and setup=lean is what the client sends by
// itself on every new connection.
func BenchmarkConnectIncr(b *testing.B) { connectIncr.run(b) }

var connectIncr = workload{
	Family: param.Family{
		Name:        "ConnectIncr",
		Conns:       []string{param.Fresh},
		Nets:        []string{"tcp", "unix"},
		Goroutines:  []int{1, 100, 1000},
		FreshSetups: []adapters.Setup{adapters.Stock, adapters.Lean},
	},
	claims: func(param.Case) map[string]int64 {
		return map[string]int64{"incr": 1}
	},
	worker: func(s *session, id int) exchange { return increase(corpus.Prefix + "connects") },
}
