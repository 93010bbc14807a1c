package param_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rcbench/adapters"
	"rcbench/bench/internal/param"
)

// order is the order of the keys in every name.
var order = []string{"conn", "net", "goroutines", "value", "loop", "depth",
	"how", "keys", "members", "reads", "dist", "procs", "connects", "cmd",
	"pool", "keyspace", "db", "setup", "proto", "auth", "backlog", "client"}

func TestNameInFull(t *testing.T) {
	got := names(reads, resolve(t, "-conns=pool", "-nets=tls", "-goroutines=7", "-values=16KiB", "-loops=3",
		"-pool=2", "-keyspace=9", "-db=5", "-setup=stock", "-proto=3", "-auth=password", "-backlog=128", "-clients=goredis"))
	want := []string{"conn=pool/net=tls/goroutines=7/value=16KiB/loop=3/" +
		"pool=2/keyspace=9/db=5/setup=stock/proto=3/auth=password/backlog=128/client=goredis"}
	if !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
}

// TestKeyIsInTheNameWhenItTellsSomething: a key that is always there makes
// names long, one that is missing makes two cases look the same.
func TestKeyIsInTheNameWhenItTellsSomething(t *testing.T) {
	tests := []struct {
		key    string
		family *param.Family
		args   []string
		want   string // the value; empty if the key is not in the name
	}{
		{"value", reads, nil, "64B"},
		{"value", connects, []string{"-values=1KiB"}, ""},
		{"loop", reads, []string{"-loops=1"}, "1"},
		{"loop", pipelines, []string{"-loops=7"}, ""},
		{"depth", pipelines, []string{"-depths=1"}, "1"},
		{"depth", reads, []string{"-depths=7"}, ""},

		{"pool", reads, []string{"-conns=pool"}, ""},
		{"pool", reads, []string{"-conns=pool", "-pool=8"}, "8"},
		{"pool", reads, []string{"-conns=own", "-pool=8"}, ""},
		{"pool", reads, []string{"-conns=shared", "-pool=8"}, ""},
		{"pool", reads, []string{"-conns=fresh", "-pool=8"}, ""},

		{"keyspace", reads, nil, ""},
		{"keyspace", reads, []string{"-keyspace=1000"}, ""},
		{"keyspace", reads, []string{"-keyspace=1"}, "1"},

		{"keyspace", mixes, []string{"-keyspace=1"}, "1"},
		{"keyspace", mixes, []string{"-keyspace=1000"}, "1000"},

		{"how", fills, []string{"-how=multi"}, "multi"},
		{"how", reads, []string{"-how=multi"}, ""},
		{"members", fills, nil, "1000"},
		{"keys", fills, []string{"-keys=3"}, ""},
		{"keys", requests, []string{"-keys=3"}, "3"},
		{"reads", mixes, nil, "80"},
		{"dist", mixes, []string{"-dist=zipf"}, "zipf"},
		{"procs", storms, []string{"-procs=7"}, "7"},
		{"connects", storms, nil, "100"},
		{"cmd", customs, []string{"-cmd=ft.SEARCH __key__ 'a b'"}, "ftsearch"},

		{"db", fills, nil, "254"},
		{"db", fills, []string{"-db=0"}, ""},
		{"db", reads, []string{"-db=7"}, "7"},
		{"backlog", reads, nil, ""},
		{"backlog", reads, []string{"-backlog=128"}, "128"},

		{"setup", reads, []string{"-conns=own"}, ""},
		{"setup", reads, []string{"-conns=own", "-setup=lean"}, ""},
		{"setup", reads, []string{"-conns=own", "-setup=stock"}, "stock"},
		{"setup", reads, []string{"-conns=pool", "-setup=stock"}, "stock"},
		{"setup", reads, []string{"-conns=fresh"}, "stock"},
		{"setup", reads, []string{"-conns=fresh", "-setup=stock"}, "stock"},
		{"setup", reads, []string{"-conns=fresh", "-setup=lean"}, "lean"},

		{"proto", reads, nil, ""},
		{"proto", reads, []string{"-proto=2"}, "2"},
		{"proto", reads, []string{"-proto=3"}, "3"},

		{"auth", reads, nil, ""},
		{"auth", reads, []string{"-auth=none"}, ""},
		{"auth", reads, []string{"-auth=password"}, "password"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s/%s%q", tt.key, tt.family.Name, tt.args), func(t *testing.T) {
			all := names(tt.family, resolve(t, tt.args...))
			if len(all) == 0 {
				t.Fatal("no cases")
			}
			for _, name := range all {
				if got := pairs(t, name)[tt.key]; got != tt.want {
					t.Errorf("%s: %s=%q, want %q", name, tt.key, got, tt.want)
				}
			}
		})
	}
}

// pairs takes a name apart, and holds its form against the rules that every
// name keeps.
func pairs(t *testing.T, name string) map[string]string {
	t.Helper()
	values := map[string]string{}
	last := -1
	for pair := range strings.SplitSeq(name, "/") {
		key, value, ok := strings.Cut(pair, "=")
		at := slices.Index(order, key)
		if !ok || value == "" || at <= last {
			t.Errorf("%s: %q is no key=value, or not in the order %v", name, pair, order)
		}
		if !plain.MatchString(value) {
			t.Errorf("%s: value %q has a character that other tools read as theirs", name, value)
		}
		values[key], last = value, at
	}
	if last != len(order)-1 {
		t.Errorf("%s: the client is not last", name)
	}
	return values
}

// plain matches a value without a space or a "-digits" end, which would be
// read as GOMAXPROCS, and without what package testing escapes or what a
// pattern of -bench would need escaped.
var plain = regexp.MustCompile(`^[A-Za-z0-9]+$`)

// choices are values of each flag that the property test draws from; the
// empty one leaves the flag out.
var choices = map[string][]string{
	"clients":    {"", "goredis", "redigo", "redigo,goredis"},
	"conns":      {"", "", "own", "pool,fresh", "shared", "fresh,own,pool,shared"},
	"nets":       {"", "tcp", "tls,unix", "tcp,unix,tls"},
	"goroutines": {"", "1", "10,1000"},
	"loops":      {"", "1", "5,100,5"},
	"depths":     {"", "1", "2,1000"},
	"values":     {"", "1B", "64B,1KiB,16KiB,1MiB", "1025B,512MiB"},
	"setup":      {"", "stock", "lean", "stock,lean"},
	"proto":      {"", "2", "3,2"},
	"auth":       {"", "none", "password"},
	"pool":       {"", "1", "16"},
	"keyspace":   {"", "1", "1000", "1001", "1,1000"},
	"how":        {"", "loop", "multi,variadic"},
	"keys":       {"", "1", "2,20"},
	"members":    {"", "100"},
	"reads":      {"", "0", "50,99"},
	"dist":       {"", "zipf", "zipf,uniform"},
	"procs":      {"", "2"},
	"connects":   {"", "1,2"},
	"cmd":        {"", "SET __key__ 1", "CONFIG GET x-1"},
	"db":         {"", "0", "3"},
	"backlog":    {"", "128"},
}

// TestNamesOfTheMatrix draws command lines and holds every name of every
// family against the rules. The names of one command line must differ, since
// testing.B would tell them apart by a number of its own.
func TestNamesOfTheMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	flags := slices.Sorted(maps.Keys(choices))
	checked := 0
	for range 60 {
		var args []string
		for _, name := range flags {
			if v := choices[name][r.IntN(len(choices[name]))]; v != "" {
				args = append(args, "-"+name+"="+v)
			}
		}
		for _, f := range families {
			seen := map[string]bool{}
			for _, name := range names(f, resolve(t, args...)) {
				pairs(t, name)
				if seen[name] {
					t.Errorf("%s with %q: two cases have the name %s", f.Name, args, name)
				}
				seen[name] = true
				checked++
			}
			if t.Failed() {
				t.Fatalf("with %q", args)
			}
		}
	}
	if checked < 1000 {
		t.Errorf("%d names checked, want more than 1000", checked)
	}
}

// TestClientsAreInnermost: the arms that are compared run next to each other.
func TestClientsAreInnermost(t *testing.T) {
	for _, f := range families {
		cases := f.Cases(resolve(t, "-setup=stock,lean", "-proto=2,3"))
		for i := 0; i < len(cases); i += len(known) {
			group := map[string]bool{}
			for j, d := range known {
				c := cases[i+j]
				if c.Driver.Name() != d.Name() {
					t.Errorf("%s: case %d is of %s, want %s", f.Name, i+j, c.Driver.Name(), d.Name())
				}
				name, _, _ := strings.Cut(c.Name(), "/client=")
				group[name] = true
			}
			if len(group) != 1 {
				t.Errorf("%s: next to each other: %v", f.Name, slices.Sorted(maps.Keys(group)))
			}
		}
	}
}

// TestGoldenNames shows whole matrices. The files are rewritten by
//
//	go test ./bench/internal/param -run Golden -update
func TestGoldenNames(t *testing.T) {
	tests := []struct {
		file   string
		family *param.Family
		args   []string
	}{
		{"get.txt", reads, nil},
		{"get-flags.txt", reads, []string{"-nets=tcp,unix", "-goroutines=1,1000", "-values=64B,1MiB", "-loops=1",
			"-conns=pool,fresh", "-pool=4", "-setup=stock,lean", "-proto=3", "-clients=redigo"}},
		{"connectincr.txt", connects, nil},
		{"getpipeline.txt", pipelines, []string{"-conns=own"}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			got := ""
			for _, name := range names(tt.family, resolve(t, tt.args...)) {
				got += "Benchmark" + tt.family.Name + "/" + name + "\n"
			}
			path := filepath.Join("testdata", tt.file)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("with %q, got\n%s\nwant\n%s", tt.args, got, want)
			}
		})
	}
}

func TestConns(t *testing.T) {
	tests := []struct {
		c    param.Case
		want int
	}{
		{param.Case{Conn: param.Own, Goroutines: 100}, 100},
		{param.Case{Conn: param.Shared, Goroutines: 100}, 1},
		{param.Case{Conn: param.Pool, Goroutines: 100}, 100},
		{param.Case{Conn: param.Pool, Goroutines: 100, Pool: 8}, 8},
		{param.Case{Conn: param.Pool, Goroutines: 8, Pool: 100}, 100},
		{param.Case{Conn: param.Fresh, Goroutines: 100}, 0},
	}
	for _, tt := range tests {
		if got := tt.c.Conns(); got != tt.want {
			t.Errorf("conn=%s goroutines=%d pool=%d: %d connections, want %d",
				tt.c.Conn, tt.c.Goroutines, tt.c.Pool, got, tt.want)
		}
	}
}

func TestSkipNamesClientCapabilityAndReason(t *testing.T) {
	tests := []struct {
		name   string
		family *param.Family
		args   []string
		needs  adapters.Capability // of which the reason is shown; empty if it can
	}{
		{"own", reads, []string{"-conns=own"}, ""},
		{"pool", reads, []string{"-conns=pool"}, ""},
		{"fresh", reads, []string{"-conns=fresh"}, ""},
		{"unix", reads, []string{"-conns=own", "-nets=unix"}, ""},
		{"RESP2", reads, []string{"-conns=own", "-proto=2"}, ""},
		{"shared", reads, []string{"-conns=shared"}, adapters.CapMultiplex},
		{"TLS", reads, []string{"-conns=own", "-nets=tls"}, adapters.CapTLS},
		{"RESP3", reads, []string{"-conns=own", "-proto=3"}, adapters.CapRESP3},
		{"shared first", futures, []string{"-nets=tls"}, adapters.CapMultiplex},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cases := tt.family.Cases(resolve(t, tt.args...))
			if len(cases) == 0 {
				t.Fatal("no cases")
			}
			for _, c := range cases {
				want := ""
				if c.Driver.Name() == unable.name && tt.needs != "" {
					want = fmt.Sprintf("%s lacks %s: %s", unable.name, tt.needs, unable.lacks[tt.needs])
				}
				if got := c.Skip(); got != want {
					t.Errorf("%s: skip %q, want %q", c.Name(), got, want)
				}
			}
		})
	}
}

// TestSkipWithoutFutures: a client may multiplex and still have no way to keep
// commands in flight from one goroutine.
func TestSkipWithoutFutures(t *testing.T) {
	flags := resolve(t)
	flags.Drivers = []adapters.Driver{driver{name: "radix", lacks: map[adapters.Capability]string{
		adapters.CapAsync: "blocking calls only",
	}}}
	for _, c := range futures.Cases(flags) {
		if got, want := c.Skip(), "radix lacks async: blocking calls only"; got != want {
			t.Errorf("%s: skip %q, want %q", c.Name(), got, want)
		}
	}
	for _, c := range reads.Cases(flags) {
		if got := c.Skip(); got != "" {
			t.Errorf("%s: skip %q, want none", c.Name(), got)
		}
	}
}
