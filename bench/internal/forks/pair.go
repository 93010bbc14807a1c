package forks

import "rcbench/bench/internal/verdict"

// A Value is a figure of one turn: less is better, not negative.
type Value struct {
	Unit string
	Of   func(Slice) float64
	// PerFork says that one turn is too short for the figure to mean
	// anything, so that the turns of a fork are summed up.
	PerFork bool
}

// The figures that arms are compared by.
var (
	Time      = Value{Unit: "ns/op", Of: func(s Slice) float64 { return float64(s.Elapsed) / float64(s.Ops) }}
	ClientCPU = Value{Unit: "client-cpu-ns/op", Of: func(s Slice) float64 { return float64(s.CPU) / float64(s.Ops) }, PerFork: true}
	Bytes     = Value{Unit: "B/op", Of: func(s Slice) float64 { return float64(s.Bytes) / float64(s.Ops) }, PerFork: true}
	Allocs    = Value{Unit: "allocs/op", Of: func(s Slice) float64 { return float64(s.Mallocs) / float64(s.Ops) }, PerFork: true}
)

// Pair is what two entries of a comparison measured in the rounds that both
// took part in, fork by fork.
func (r *Result) Pair(comparison, base, arm int, v Value) verdict.Pair {
	type key struct{ fork, round int }
	turns := map[key]*[2]*Slice{}
	var order []key
	for i := range r.Slices {
		s := &r.Slices[i]
		if s.Comparison != comparison || s.Entry != base && s.Entry != arm {
			continue
		}
		k := key{s.Fork, s.Round}
		if turns[k] == nil {
			turns[k] = &[2]*Slice{}
			order = append(order, k)
		}
		if s.Entry == base {
			turns[k][0] = s
		}
		if s.Entry == arm {
			turns[k][1] = s
		}
	}
	var p verdict.Pair
	last := -1
	for _, k := range order {
		t := turns[k]
		if t[0] == nil || t[1] == nil {
			continue
		}
		if k.fork != last {
			p.Base, p.Arm = append(p.Base, nil), append(p.Arm, nil)
			last = k.fork
		}
		n := len(p.Base) - 1
		p.Base[n] = append(p.Base[n], v.Of(*t[0]))
		p.Arm[n] = append(p.Arm[n], v.Of(*t[1]))
	}
	if v.PerFork {
		p.Base, p.Arm = means(p.Base), means(p.Arm)
	}
	return p
}

// means replaces the turns of each fork, which have the same number of ops, by
// their mean.
func means(forks [][]float64) [][]float64 {
	for i, turns := range forks {
		sum := 0.0
		for _, v := range turns {
			sum += v
		}
		forks[i] = []float64{sum / float64(len(turns))}
	}
	return forks
}
