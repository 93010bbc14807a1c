package forks

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Sum is what one arm did in one fork of a comparison, over all its turns.
type Sum struct {
	Comparison, Entry, Fork int
	Ops, Cmds               int64
	Elapsed                 time.Duration
	Verified                bool    // the server told its counters
	Turns                   []Slice // in time order
}

// A Metric is a figure with its unit, in the spelling of package testing.
type Metric struct {
	Value float64
	Unit  string
}

// Sums adds up the turns of each arm in each fork, ordered by comparison,
// fork and entry. The turns of an arm that failed later in the same
// comparison are left out: what it did before is not believed either.
func (r *Result) Sums() []Sum {
	type key struct{ comparison, fork, entry int }
	sums := map[key]*Sum{}
	for _, s := range r.Slices {
		if r.failed(s.Comparison, s.Entry) {
			continue
		}
		k := key{s.Comparison, s.Fork, s.Entry}
		sum := sums[k]
		if sum == nil {
			sum = &Sum{Comparison: s.Comparison, Entry: s.Entry, Fork: s.Fork, Verified: r.Verified}
			sums[k] = sum
		}
		sum.Ops += s.Ops
		sum.Elapsed += s.Elapsed
		for _, n := range claim(s).Commands {
			sum.Cmds += n
		}
		sum.Turns = append(sum.Turns, s)
	}
	list := make([]Sum, 0, len(sums))
	for _, s := range sums {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(a.Comparison, b.Comparison), cmp.Compare(a.Fork, b.Fork), cmp.Compare(a.Entry, b.Entry))
	})
	return list
}

// Has says whether an entry of a comparison has figures that are believed.
func (r *Result) Has(comparison, entry int) bool {
	return !r.failed(comparison, entry) && slices.ContainsFunc(r.Slices, func(s Slice) bool {
		return s.Comparison == comparison && s.Entry == entry
	})
}

func (r *Result) failed(comparison, entry int) bool {
	return slices.ContainsFunc(r.Failures, func(f Failure) bool {
		return f.Comparison == comparison && f.Entry == entry
	})
}

// Metrics are the figures of a benchmark line. Those of the server are there
// only if it counts them.
func (s Sum) Metrics() []Metric {
	m := []Metric{{Value: float64(s.Elapsed.Nanoseconds()) / float64(s.Ops), Unit: "ns/op"},
		{Value: float64(s.Cmds) / s.Elapsed.Seconds(), Unit: "cmds/s"}}
	add := func(unit string, count func(Slice) int64) {
		sum := int64(0)
		for _, t := range s.Turns {
			n := count(t)
			if n < 0 {
				return
			}
			sum += n
		}
		m = append(m, Metric{Value: float64(sum) / float64(s.Ops), Unit: unit})
	}
	add("B/op", func(t Slice) int64 { return t.Bytes })
	add("allocs/op", func(t Slice) int64 { return t.Mallocs })
	add("client-cpu-ns/op", func(t Slice) int64 { return t.CPU.Nanoseconds() })
	m = append(m, s.own()...)
	if !s.Verified {
		return m
	}
	add("server-cpu-ns/op", func(t Slice) int64 { return t.Server.CPU.Nanoseconds() })
	add("cmds/op", func(t Slice) int64 { return t.Server.Commands })
	add("conns/op", func(t Slice) int64 { return t.Server.Connections })
	add("errs/op", func(t Slice) int64 { return t.Server.Errors })
	return m
}

// own are the workload's own figures: the mean of the turns that have them, and
// of a maximum the maximum. A percentile is thus the mean of the turns', which
// is not that of all of them together.
func (s Sum) own() []Metric {
	var list []Metric
	turns := map[string]float64{}
	for _, t := range s.Turns {
		for _, o := range t.Metrics {
			i := slices.IndexFunc(list, func(m Metric) bool { return m.Unit == o.Unit })
			if i < 0 {
				i = len(list)
				list = append(list, Metric{Unit: o.Unit})
			}
			turns[o.Unit]++
			if strings.HasPrefix(o.Unit, "max-") {
				list[i].Value = max(list[i].Value, o.Value)
			} else {
				list[i].Value += (o.Value - list[i].Value) / turns[o.Unit]
			}
		}
	}
	return list
}
