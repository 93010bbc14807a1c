package param_test

import (
	"fmt"
	"slices"
	"testing"

	"rcbench/bench/internal/param"
)

// distinct are the values that a parameter has in the cases, in the order of
// their first case.
func distinct(cases []param.Case, of func(param.Case) any) (values []any) {
	for _, c := range cases {
		if v := of(c); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

var (
	conn       = func(c param.Case) any { return c.Conn }
	net        = func(c param.Case) any { return c.Net }
	goroutines = func(c param.Case) any { return c.Goroutines }
	value      = func(c param.Case) any { return c.Value.String() }
	loop       = func(c param.Case) any { return c.Loop }
	depth      = func(c param.Case) any { return c.Depth }
	setup      = func(c param.Case) any { return string(c.Setup) }
	proto      = func(c param.Case) any { return c.Proto }
	pool       = func(c param.Case) any { return c.Pool }
	keyspace   = func(c param.Case) any { return c.Keyspace }
	auth       = func(c param.Case) any { return c.Auth }
	client     = func(c param.Case) any { return c.Driver.Name() }
)

func TestMatrix(t *testing.T) {
	tests := []struct {
		name   string
		family *param.Family
		args   []string
		of     func(param.Case) any
		want   []any
		cases  int
	}{
		{"conns by default", reads, nil, conn, []any{"own", "shared", "pool", "fresh"}, 4 * 2 * 2},
		{"conns narrowed, in the family's order", reads, []string{"-conns=fresh,own"}, conn, []any{"own", "fresh"}, 2 * 2 * 2},
		{"conns that the family has not", pipelines, []string{"-conns=own,fresh"}, conn, []any{"own"}, 3 * 2},
		{"only conns that the family has not", pipelines, []string{"-conns=fresh"}, conn, nil, 0},
		{"nets by default", connects, nil, net, []any{"tcp", "unix"}, 2 * 2 * 2 * 2},
		{"nets narrowed", connects, []string{"-nets=unix"}, net, []any{"unix"}, 2 * 2 * 2},
		{"nets widened", reads, []string{"-nets=tls,tcp"}, net, []any{"tls", "tcp"}, 2 * 4 * 2 * 2},
		{"goroutines by default", connects, nil, goroutines, []any{1, 100}, 2 * 2 * 2 * 2},
		{"goroutines", connects, []string{"-goroutines=3,2,3"}, goroutines, []any{3, 2}, 2 * 2 * 2 * 2},
		{"values by default", reads, nil, value, []any{"64B"}, 4 * 2 * 2},
		{"values", reads, []string{"-values=1KiB,64B"}, value, []any{"1KiB", "64B"}, 2 * 4 * 2 * 2},
		{"loops by default", reads, nil, loop, []any{1, 10}, 4 * 2 * 2},
		{"loops", reads, []string{"-loops=2"}, loop, []any{2}, 4 * 2},
		{"depths by default", pipelines, nil, depth, []any{1, 10, 100}, 3 * 3 * 2},
		{"depths", pipelines, []string{"-depths=5"}, depth, []any{5}, 3 * 2},
		{"values of a family without", connects, []string{"-values=1KiB,2KiB"}, goroutines, []any{1, 100}, 2 * 2 * 2 * 2},
		{"loops of a family without", pipelines, []string{"-loops=1,2"}, depth, []any{1, 10, 100}, 3 * 3 * 2},
		{"depths of a family without", reads, []string{"-depths=1,2"}, loop, []any{1, 10}, 4 * 2 * 2},
		{"setup by default", reads, []string{"-conns=own,shared,pool"}, setup, []any{"lean"}, 3 * 2 * 2},
		{"setup of fresh by default", reads, []string{"-conns=fresh"}, setup, []any{"stock"}, 2 * 2},
		{"setups of fresh by default", connects, nil, setup, []any{"stock", "lean"}, 2 * 2 * 2 * 2},
		{"setup", reads, []string{"-setup=stock"}, setup, []any{"stock"}, 4 * 2 * 2},
		{"setup of fresh", connects, []string{"-setup=lean"}, setup, []any{"lean"}, 2 * 2 * 2},
		{"setups", reads, []string{"-setup=lean,stock"}, setup, []any{"lean", "stock"}, 2 * 4 * 2 * 2},
		{"protocol by default", reads, nil, proto, []any{0}, 4 * 2 * 2},
		{"protocols", reads, []string{"-proto=3,2"}, proto, []any{3, 2}, 2 * 4 * 2 * 2},
		{"pool", reads, []string{"-pool=5"}, pool, []any{0, 5}, 4 * 2 * 2},
		{"pool of conn=pool", reads, []string{"-conns=pool", "-pool=5"}, pool, []any{5}, 2 * 2},
		{"pool without conn=pool", reads, []string{"-conns=own,shared,fresh", "-pool=5"}, pool, []any{0}, 3 * 2 * 2},
		{"keyspace by default", reads, nil, keyspace, []any{1000}, 4 * 2 * 2},
		{"keyspace", reads, []string{"-keyspace=3"}, keyspace, []any{3}, 4 * 2 * 2},
		{"keyspaces of a family without", connects, []string{"-keyspace=3,4"}, keyspace, []any{1000}, 2 * 2 * 2 * 2},
		{"auth", reads, []string{"-auth=password"}, auth, []any{"password"}, 4 * 2 * 2},
		{"clients by default", reads, nil, client, []any{"goredis", "redigo"}, 4 * 2 * 2},
		{"clients, in the order of the list of drivers", reads, []string{"-clients=redigo,goredis"}, client, []any{"goredis", "redigo"}, 4 * 2 * 2},
		{"client", reads, []string{"-clients=redigo"}, client, []any{"redigo"}, 4 * 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cases := tt.family.Cases(resolve(t, tt.args...))
			if got := distinct(cases, tt.of); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("%s with %q: values %v, want %v", tt.family.Name, tt.args, got, tt.want)
			}
			if len(cases) != tt.cases {
				t.Errorf("%s with %q: %d cases, want %d", tt.family.Name, tt.args, len(cases), tt.cases)
			}
		})
	}
}

// TestCasesLeavesTheFamilyAlone: the suite calls it once for each place that
// goes through the matrix.
func TestCasesLeavesTheFamilyAlone(t *testing.T) {
	flags := resolve(t, "-conns=pool,fresh", "-setup=stock,lean", "-pool=3")
	first := names(reads, flags)
	for range 3 {
		if again := names(reads, flags); !slices.Equal(first, again) {
			t.Fatalf("names %q, before %q", again, first)
		}
	}
}
