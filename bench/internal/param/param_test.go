package param_test

import (
	"flag"
	"io"
	"testing"

	"rcbench/adapters"
	"rcbench/bench/internal/param"
)

var update = flag.Bool("update", false, "rewrite the files of testdata")

// A driver is a client of which only the name and what it lacks are known.
type driver struct {
	adapters.Driver
	name  string
	lacks map[adapters.Capability]string
}

func (d driver) Name() string                          { return d.name }
func (d driver) Lacks() map[adapters.Capability]string { return d.lacks }

// One client can do everything, the other next to nothing.
var (
	able   = driver{name: "goredis"}
	unable = driver{name: "redigo", lacks: map[adapters.Capability]string{
		adapters.CapMultiplex: "one goroutine at a time",
		adapters.CapAsync:     "no futures",
		adapters.CapRESP3:     "RESP2 only",
		adapters.CapTLS:       "no TLS here",
	}}
	known = []adapters.Driver{able, unable}
)

// The families differ in which lists they have.
var (
	reads = &param.Family{
		Name:        "Get",
		Conns:       []string{param.Own, param.Shared, param.Pool, param.Fresh},
		Nets:        []string{"tcp"},
		Goroutines:  []int{100},
		Values:      []param.Size{param.DefaultValue},
		Keyspaces:   []int{param.DefaultKeyspace},
		Loops:       []int{1, 10},
		FreshSetups: []adapters.Setup{adapters.Stock},
	}
	pipelines = &param.Family{
		Name:       "GetPipeline",
		Conns:      []string{param.Own, param.Shared, param.Pool},
		Nets:       []string{"tcp"},
		Goroutines: []int{100},
		Values:     []param.Size{param.DefaultValue},
		Keyspaces:  []int{param.DefaultKeyspace},
		Depths:     []int{1, 10, 100},
	}
	connects = &param.Family{
		Name:        "ConnectIncr",
		Conns:       []string{param.Fresh},
		Nets:        []string{"tcp", "unix"},
		Goroutines:  []int{1, 100},
		FreshSetups: []adapters.Setup{adapters.Stock, adapters.Lean},
	}
	futures = &param.Family{
		Name:       "GetAsync",
		Conns:      []string{param.Shared},
		Nets:       []string{"tcp"},
		Goroutines: []int{100},
		Loops:      []int{10},
		Async:      true,
	}
	fills = &param.Family{
		Name:       "HashFill",
		Conns:      []string{param.Own},
		Nets:       []string{"unix", "tcp"},
		Goroutines: []int{1},
		Hows:       []string{param.Variadic, param.Multi},
		Members:    []int{1000},
		DB:         254,
	}
	requests = &param.Family{
		Name:        "Request",
		Conns:       []string{param.Own, param.Fresh},
		Nets:        []string{"tcp"},
		Goroutines:  []int{50, 100},
		Keys:        []int{1, 20},
		FreshSetups: []adapters.Setup{adapters.Stock},
	}
	mixes = &param.Family{
		Name:       "Mixed",
		Conns:      []string{param.Own},
		Nets:       []string{"tcp"},
		Goroutines: []int{100},
		Reads:      []int{80},
		Dists:      []string{param.Uniform, param.Zipf},
		Keyspaces:  []int{1, 100000},
	}
	storms = &param.Family{
		Name:        "Storm",
		Conns:       []string{param.Fresh},
		Nets:        []string{"tcp"},
		Goroutines:  []int{10},
		Procs:       []int{1, 100},
		Connects:    []int{100},
		FreshSetups: []adapters.Setup{adapters.Stock},
	}
	customs = &param.Family{
		Name:       "Custom",
		Conns:      []string{param.Own},
		Nets:       []string{"tcp"},
		Goroutines: []int{100},
		Command:    true,
	}
	families = []*param.Family{reads, pipelines, connects, futures, fills, requests, mixes, storms, customs}
)

// parse parses and resolves the flags of a command line.
func parse(args ...string) (*param.Flags, error) {
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	f := param.Register(fs)
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	return f, f.Resolve(known)
}

// resolve is parse for flags that are right.
func resolve(t testing.TB, args ...string) *param.Flags {
	t.Helper()
	f, err := parse(args...)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return f
}

// names are the names of all cases of a family, in order.
func names(f *param.Family, flags *param.Flags) (names []string) {
	for _, c := range f.Cases(flags) {
		names = append(names, c.Name())
	}
	return names
}
