package bench

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"rcbench/adapters"
	"rcbench/bench/internal/param"
	"rcbench/internal/target"
)

// BenchmarkHarness shows what the harness itself costs: a client that answers
// at once, under the body of Get, against an empty RunParallel loop written by
// hand. The difference of their ns/op, and of their allocs/op, is the cost.
// It measures no client and no server.
func BenchmarkHarness(b *testing.B) {
	for _, goroutines := range []int{1, 100} {
		c := param.Case{Conn: param.Own, Net: "tcp", Goroutines: goroutines, Value: param.DefaultValue,
			Loop: 1, Keyspace: 1, Setup: adapters.Lean, Driver: null{}}
		for _, through := range []string{"bare", "harness"} {
			b.Run(fmt.Sprintf("goroutines=%d/through=%s", goroutines, through), func(b *testing.B) {
				tally.harness.Store(true)
				s := &session{workload: get, Case: c, host: nowhere{}}
				if through == "bare" {
					bare(b, goroutines)
					return
				}
				if err := s.open(b.Context()); err != nil {
					b.Fatal(err)
				}
				defer s.close()
				if err := s.measure(b); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// bare is the loop that one would write without a harness.
func bare(b *testing.B, goroutines int) {
	b.ReportAllocs()
	procs := runtime.GOMAXPROCS(0)
	b.SetParallelism((goroutines + procs - 1) / procs)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
		}
	})
}

// null is a driver without a server: it answers from memory.
type null struct{ adapters.Driver }

func (null) Name() string                                                   { return "null" }
func (null) Lacks() map[adapters.Capability]string                          { return nil }
func (null) Dial(context.Context, adapters.Config) (adapters.Client, error) { return nullClient{}, nil }

// nullClient knows GET and what loading and closing need.
type nullClient struct{ adapters.Client }

func (nullClient) Get(context.Context, string) ([]byte, error)   { return nullValue, nil }
func (nullClient) Strlen(context.Context, string) (int64, error) { return int64(len(nullValue)), nil }
func (nullClient) NewBatch(int) adapters.Batch                   { return nullBatch{} }
func (nullClient) Close() error                                  { return nil }

// nullBatch stores what is set: the only value that there is.
type nullBatch struct{ adapters.Batch }

var nullValue []byte

func (nullBatch) Set(_, value string)        { nullValue = []byte(value) }
func (nullBatch) Exec(context.Context) error { return nil }
func (nullBatch) Len() int                   { return 1 }
func (nullBatch) Reset()                     {}

// nowhere is a host that counts nothing.
type nowhere struct{}

func (nowhere) Counters(context.Context) (target.Counters, error) {
	return target.Counters{}, target.ErrNoCounters
}
func (nowhere) Config(string) (adapters.Config, error)             { return adapters.Config{}, nil }
func (nowhere) Control() adapters.Client                           { return nullClient{} }
func (nowhere) Died() error                                        { return nil }
func (nowhere) Dial(context.Context, int) (adapters.Client, error) { return nullClient{}, nil }
func (nowhere) MaxClients() int                                    { return 0 }
func (nowhere) Foreign() bool                                      { return false }
func (nowhere) Root() (string, string)                             { return "", "" }
