package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"rcbench/adapters"
	"rcbench/bench/internal/corpus"
	"rcbench/bench/internal/meter"
	"rcbench/bench/internal/param"
)

// BenchmarkMixed: readers and writers of one keyspace. One op is the smallest
// group of commands that has the ratio exactly, with reads=80 four GETs and one
// SET, in an order that is drawn anew for each op: so the server's counters can
// be held to it. Besides the usual figures it reports the service time of each
// role, as JMH does for a @Group.
func BenchmarkMixed(b *testing.B) { mixed.run(b) }

var mixed = workload{
	Family: param.Family{
		Name:       "Mixed",
		Conns:      []string{param.Own, param.Shared, param.Pool},
		Nets:       []string{"tcp"},
		Goroutines: studyGoroutines,
		Values:     []param.Size{param.DefaultValue},
		Reads:      []int{80},
		Dists:      []string{param.Uniform, param.Zipf},
		Keyspaces:  []int{1, 100000},
	},
	claims: func(c param.Case) map[string]int64 {
		gets, sets := group(c.Reads)
		return map[string]int64{"get": int64(gets), "set": int64(sets)}
	},
	keys:   true,
	folder: "mixed:",
	worker: func(s *session, id int) exchange {
		if s.state == nil {
			s.state = newMix(s)
		}
		return s.state.(*mix).exchange(s, id)
	},
	metrics: func(s *session) []meter.Metric { return s.state.(*mix).metrics() },
}

// group is the smallest number of GETs and SETs that are in the ratio of so
// many per cent reads.
func group(reads int) (gets, sets int) {
	gets, sets = reads, 100-reads
	a, b := gets, sets
	for b != 0 {
		a, b = b, a%b
	}
	return gets / a, sets / a
}

// A mix is what the workers of a session share.
type mix struct {
	other  string   // texts that SETs write in turn with those of the corpus
	order  []uint32 // keys as they were drawn
	timers []timer  // of each worker
}

// A timer holds the service times of a worker's commands, in ns.
type timer struct{ get, set *hdrhistogram.Histogram }

// drawn is how many keys are drawn before the run, which they must not slow
// down.
const drawn = 1 << 18

// zipfExponent is close to the 0.99 of YCSB; math/rand has exponents above 1.
const zipfExponent = 1.01

func newMix(s *session) *mix {
	n := s.corpus.Len()
	m := &mix{
		other:  corpus.Text(int(s.Value) + 2*n)[n:],
		order:  make([]uint32, drawn),
		timers: make([]timer, s.Goroutines),
	}
	r := rand.New(rand.NewPCG(3, 4))
	draw := func() uint64 { return r.Uint64N(uint64(n)) }
	if s.Dist == param.Zipf {
		draw = rand.NewZipf(r, zipfExponent, 1, uint64(n-1)).Uint64
	}
	for i := range m.order {
		m.order[i] = uint32(draw())
	}
	for i := range m.timers {
		const shortest, longest, digits = 1e3, 60e9, 2
		m.timers[i] = timer{hdrhistogram.New(shortest, longest, digits), hdrhistogram.New(shortest, longest, digits)}
	}
	return m
}

func (m *mix) exchange(s *session, id int) exchange {
	gets, sets := group(s.Reads)
	r := rand.New(rand.NewPCG(5, uint64(id)))
	next := r.IntN(len(m.order))
	t := m.timers[id]
	return func(ctx context.Context, c adapters.Client) error {
		last := time.Now()
		for reads, writes := gets, sets; reads+writes > 0; {
			i := int(m.order[next])
			if next++; next == len(m.order) {
				next = 0
			}
			spent := t.get
			if r.IntN(reads+writes) < reads {
				reads--
				v, err := c.Get(ctx, s.corpus.Key(i))
				if err := m.check(s, i, v, err); err != nil {
					return err
				}
			} else {
				writes--
				spent = t.set
				value := s.corpus.Value(i)
				if r.IntN(2) == 0 {
					value = m.alternative(s, i)
				}
				if err := c.Set(ctx, s.corpus.Key(i), value); err != nil {
					return fmt.Errorf("SET %s: %w", s.corpus.Key(i), err)
				}
			}
			now := time.Now()
			spent.RecordValue(min(now.Sub(last).Nanoseconds(), spent.HighestTrackableValue()))
			last = now
		}
		return nil
	}
}

// alternative is the other value that a key may have.
func (m *mix) alternative(s *session, i int) string { return m.other[i : i+int(s.Value)] }

func (m *mix) check(s *session, i int, v []byte, err error) error {
	if err == nil && string(v) == m.alternative(s, i) {
		return nil
	}
	return s.checkValue(i, v, err)
}

// metrics are the service times of each role: the mean, and percentiles where
// there are values enough for them.
func (m *mix) metrics() (list []meter.Metric) {
	const enough = 10_000
	role := func(name string, of func(timer) *hdrhistogram.Histogram) {
		all := hdrhistogram.New(of(m.timers[0]).LowestTrackableValue(), of(m.timers[0]).HighestTrackableValue(), 2)
		for _, t := range m.timers {
			all.Merge(of(t))
			of(t).Reset()
		}
		if all.TotalCount() == 0 {
			return
		}
		list = append(list, meter.Metric{Value: all.Mean(), Unit: name + "-latency-ns"})
		if all.TotalCount() < enough {
			return
		}
		for _, p := range []float64{50, 99} {
			list = append(list, meter.Metric{Value: float64(all.ValueAtPercentile(p)), Unit: fmt.Sprintf("p%v-%s-latency-ns", p, name)})
		}
	}
	role("get", func(t timer) *hdrhistogram.Histogram { return t.get })
	role("set", func(t timer) *hdrhistogram.Histogram { return t.set })
	return list
}
