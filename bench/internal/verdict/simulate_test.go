package verdict

import (
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// simulated is how many comparisons stand behind the figures that decide: the
// standard error of 5 % is then 0.5 %.
const simulated = 2000

// each calls f with n worlds of m, each with a seed of its own, on all CPUs.
func each(m machine, n int, f func(i int, w *world)) {
	h := fnv.New64a()
	h.Write([]byte(m.name))
	var wg sync.WaitGroup
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i, m.run(uint64(i), h.Sum64()))
			}
		})
	}
	wg.Wait()
}

// shares is how often each element of what f returns is true.
func shares(m machine, n int, f func(i int, w *world) []bool) []float64 {
	results := make([][]bool, n)
	each(m, n, func(i int, w *world) { results[i] = f(i, w) })
	out := make([]float64, len(results[0]))
	for _, r := range results {
		for k, yes := range r {
			if yes {
				out[k] += 1 / float64(n)
			}
		}
	}
	return out
}

func compare(p Pair) Estimate {
	e, err := Compare(p, Options{})
	if err != nil {
		panic(err)
	}
	return e
}

// Equal arms are called different in 5 % of the comparisons, whatever the
// machine does and however the run is split, and the interval covers the truth
// in 95 %, which is the same statement about an arm that differs.
func TestFalseAlarms(t *testing.T) {
	const ratio = 1.05
	n := simulated
	if testing.Short() {
		n /= 4
	}
	tolerance := 4 * math.Sqrt(0.05*0.95/float64(n))
	forks, rounds := []int{6, 10, 20}, []int{5, 20, 60}
	for _, m := range machines {
		missed := shares(m, n, func(_ int, w *world) (out []bool) {
			p := w.pair(20, 60, ratio)
			for _, r := range rounds {
				all := p.first(20, r).reduce(false)
				for _, f := range forks {
					e := estimate(all[:f], false, 0.05)
					out = append(out, ratio < e.Low || ratio > e.High)
				}
			}
			return out
		})
		line := ""
		for i, share := range missed {
			r, f := rounds[i/len(forks)], forks[i%len(forks)]
			line += fmt.Sprintf(" %4.1f", 100*share)
			if share > 0.05+tolerance {
				t.Errorf("%s, %d forks x %d rounds: false alarms %.1f %%, want 5 %%", m.name, f, r, 100*share)
			}
			// Few rounds with heavy tails err on the quiet side.
			if r >= 20 && share < 0.05-tolerance {
				t.Errorf("%s, %d forks x %d rounds: the interval covers %.1f %%, want 95 %%", m.name, f, r, 100-100*share)
			}
		}
		t.Logf("%-15s%s", m.name, line)
	}
}

// What a run of 20 forks x 60 rounds, about 13 s with restarts, finds.
func TestPower(t *testing.T) {
	const n = 400
	for _, test := range []struct {
		bias        float64
		three, five float64 // least power, alone
		threeHolm   float64 // and as the first of a table of 8
	}{
		{bias: 0.01, three: 0.95, five: 0.99, threeHolm: 0.95},
		{bias: 0.02, three: 0.85, five: 0.97, threeHolm: 0.55},
		{bias: 0.03, three: 0.60, five: 0.95},
	} {
		m := standard.but(fmt.Sprintf("bias %.0f %%", 100*test.bias), func(m *machine) { m.bias = test.bias })
		found := shares(m, n, func(_ int, w *world) []bool {
			p := w.pair(20, 60, 1)
			slower := func(ratio float64) Estimate {
				arm := make([][]float64, len(p.Arm))
				for i := range arm {
					for _, v := range p.Arm[i] {
						arm[i] = append(arm[i], v*ratio)
					}
				}
				return compare(Pair{Base: p.Base, Arm: arm})
			}
			three, five := slower(1.03), slower(1.05)
			say := func(e Estimate, rows float64) bool {
				return Decide(e, min(1, rows*e.P), Lower, Options{}).Verdict == Slower
			}
			return []bool{say(three, 1), say(five, 1), say(three, 8), say(five, 8)}
		})
		t.Logf("%s: 3 %% found %.1f %%, 5 %% found %.1f %%; as the first of a table of 8: %.1f %%, %.1f %%",
			m.name, 100*found[0], 100*found[1], 100*found[2], 100*found[3])
		for i, least := range []float64{test.three, test.five, test.threeHolm} {
			if found[i] < least {
				t.Errorf("%s: difference %d found with %.3f, want at least %.2f", m.name, i, found[i], least)
			}
		}
	}
}

// A table of eight clients against the same base has a false alarm in at most
// 5 % of the runs.
func TestFamily(t *testing.T) {
	const n = 1000
	got := shares(standard, n, func(_ int, w *world) []bool {
		var p []float64
		for _, pair := range w.table(10, 20, 8, 1) {
			p = append(p, compare(pair).P)
		}
		return []bool{slices.Min(Holm(p)) < 0.05, slices.Min(p) < 0.05}
	})
	t.Logf("a false alarm in a table of 8: %.1f %% after Holm, %.1f %% before", 100*got[0], 100*got[1])
	if got[0] > 0.05+4*math.Sqrt(0.05*0.95/n) {
		t.Errorf("after Holm: %.3f, want at most 0.05", got[0])
	}
	if got[1] < 0.15 {
		t.Errorf("before Holm: %.3f: this test could not have failed", got[1])
	}
}

// Verdicts and the gate on arms whose difference is known.
func TestVerdictsOfKnownArms(t *testing.T) {
	const n = 400
	for _, test := range []struct {
		ratio   float64
		verdict Verdict
		least   float64    // share with that verdict
		gate    [2]float64 // bounds of the share that breaks a gate of 5 %
	}{
		{ratio: 1, verdict: Same, least: 0.92, gate: [2]float64{0, 0}},
		{ratio: 1.05, verdict: Slower, least: 0.98, gate: [2]float64{0, 0.055}},
		{ratio: 1.08, verdict: Slower, least: 0.99, gate: [2]float64{0.95, 1}},
		{ratio: 1 / 1.05, verdict: Faster, least: 0.98, gate: [2]float64{0, 0}},
	} {
		got := shares(standard, n, func(_ int, w *world) []bool {
			e := compare(w.pair(20, 60, test.ratio))
			return []bool{
				Decide(e, e.P, Lower, Options{}).Verdict == test.verdict,
				Gate(e, e.P, Lower, 0.05, Options{}),
			}
		})
		t.Logf("ratio %.3f: %v %.1f %%, gate broken %.1f %%", test.ratio, test.verdict, 100*got[0], 100*got[1])
		if got[0] < test.least {
			t.Errorf("ratio %.3f: %v in %.3f of the runs, want %.2f", test.ratio, test.verdict, got[0], test.least)
		}
		if got[1] < test.gate[0] || got[1] > test.gate[1] {
			t.Errorf("ratio %.3f: gate broken in %.3f of the runs, want %v", test.ratio, got[1], test.gate)
		}
	}
}

// What Resolvable promises is what a machine that is as assumed delivers.
func TestResolvableIsFound(t *testing.T) {
	m := machine{name: "assumed", bias: assumedBias, noise: assumedRound / math.Sqrt2}
	for _, shape := range [][2]int{{4, 60}, {10, 20}, {30, 30}} {
		forks, rounds := shape[0], shape[1]
		ratio := 1 + Resolvable(forks, rounds)
		found := shares(m, 1000, func(_ int, w *world) []bool {
			e := compare(w.pair(forks, rounds, ratio))
			return []bool{e.P < 0.05}
		})[0]
		t.Logf("%d forks x %d rounds: %.1f %% found with %.1f %%", forks, rounds, 100*(ratio-1), 100*found)
		if found < 0.72 || found > 0.87 {
			t.Errorf("%d forks x %d rounds: a ratio of %.4f is found with %.3f, want 0.80", forks, rounds, ratio, found)
		}
	}
}

// Costs that are concentrated in few turns are not in Ratio; Total and
// TailsDiffer tell them.
func TestTailsDiffer(t *testing.T) {
	got := shares(calm, 400, func(_ int, w *world) []bool {
		p := w.pair(10, 60, 1)
		equal := compare(p)
		for i := range p.Arm {
			for j := 0; j < len(p.Arm[i]); j += 10 { // 5 % in all
				p.Arm[i][j] *= 1.5
			}
		}
		paused := compare(p)
		return []bool{equal.TailsDiffer, paused.TailsDiffer, math.Abs(paused.Total-1.05) < 0.02}
	})
	t.Logf("tails differ: %.1f %% of equal arms, %.1f %% of arms with pauses", 100*got[0], 100*got[1])
	if got[0] > 0.03 || got[1] < 0.99 || got[2] < 0.95 {
		t.Errorf("TailsDiffer for %.3f of equal arms, %.3f of arms with pauses, Total right for %.3f; want 0.01, 1, 1",
			got[0], got[1], got[2])
	}
	noisy := shares(standard, 400, func(_ int, w *world) []bool {
		return []bool{compare(w.pair(10, 60, 1)).TailsDiffer}
	})
	if noisy[0] > 0.03 {
		t.Errorf("standard machine: TailsDiffer for %.3f of equal arms, want 0.01", noisy[0])
	}
}

// The first location is the one of Compare: on no machine is another much better.
func TestLocations(t *testing.T) {
	const n, ratio = 100, 1.03
	for _, m := range []machine{calm, standard, tailed} {
		errs := make([][]float64, n)
		found := shares(m, n, func(i int, w *world) (out []bool) {
			p := w.pair(20, 60, ratio)
			for _, l := range locations {
				d := make([]float64, len(p.Base))
				for f := range d {
					d[f] = l.of(p.Base[f], p.Arm[f])
				}
				test := student(d)
				out = append(out, test.p < 0.05)
				errs[i] = append(errs[i], test.mean-math.Log(ratio))
			}
			return out
		})
		var first float64
		for k, l := range locations {
			var squares float64
			for i := range errs {
				squares += errs[i][k] * errs[i][k]
			}
			rms := math.Sqrt(squares / n)
			t.Logf("%-11s %-17s error %.2f %%, 3 %% found %5.1f %%", m.name, l.name, 100*rms, 100*found[k])
			if k == 0 {
				first = rms
			}
			if rms < 0.93*first {
				t.Errorf("%s: %s has an error of %.4f, the method of Compare one of %.4f", m.name, l.name, rms, first)
			}
		}
	}
}

// The tests that were rejected, by the same simulation.
func TestCandidates(t *testing.T) {
	const n = 250
	type figures struct{ alarms6, found6, alarms20, found20 float64 }
	table := map[string]map[string]figures{}
	for _, m := range []machine{calm, standard, drifting} {
		all := shares(m, n, func(_ int, w *world) []bool {
			equal, slower := w.pair(20, 60, 1), w.pair(20, 60, 1.03)
			var out []bool
			for _, c := range tests {
				for _, forks := range []int{6, 20} {
					out = append(out, c.p(equal.first(forks, 60)) < 0.05, c.p(slower.first(forks, 60)) < 0.05)
				}
			}
			// All of base, then all of arm, as go test -count does.
			for _, forks := range []int{6, 20} {
				for _, ratio := range []float64{1, 1.03} {
					base, arm := w.pair(forks, 60, 1).Base, w.pair(forks, 60, ratio).Arm
					out = append(out, uTest(medians(base), medians(arm)) < 0.05)
				}
			}
			return out
		})
		table[m.name] = map[string]figures{}
		for k := 0; 4*k < len(all); k++ {
			name := "U test, all of base before all of arm"
			if k < len(tests) {
				name = tests[k].name
			}
			f := figures{all[4*k], all[4*k+1], all[4*k+2], all[4*k+3]}
			table[m.name][name] = f
			t.Logf("%-9s %-38s 6 forks: %5.1f %5.1f   20 forks: %5.1f %5.1f", m.name, name,
				100*f.alarms6, 100*f.found6, 100*f.alarms20, 100*f.found20)
		}
	}
	for name, yes := range map[string]bool{
		"bootstrap of six forks has false alarms":   table["standard"]["bootstrap"].alarms6 > 0.08,
		"rounds as evidence have false alarms":      table["calm"]["each round as evidence, paired t"].alarms20 > 0.15,
		"the unpaired test does not see 3 %":        table["standard"]["U test of fork medians (benchstat)"].found20 < 0.3,
		"signed rank of six forks has less power":   table["standard"]["signed rank"].found6 < table["standard"]["t"].found6-0.1,
		"the mixed model has less power":            table["standard"]["mixed model, REML"].found20 < 0.9,
		"base before arm has false alarms":          table["drift"]["U test, all of base before all of arm"].alarms20 > 0.15,
		"t of twenty forks finds 3 % almost always": table["standard"]["t"].found20 > 0.95,
	} {
		if !yes {
			t.Errorf("no longer true: %s", name)
		}
	}
}

// How ten seconds are best split, when a fork costs 0.15 s and a round 8 ms.
func TestSplit(t *testing.T) {
	const budget, overhead, turn = 10 * time.Second, 150 * time.Millisecond, 4 * time.Millisecond
	rounds := []int{5, 10, 20, 40, 80, 160, 320}
	var header strings.Builder
	for _, r := range rounds {
		fmt.Fprintf(&header, " %3dx%-3d", int(budget/(overhead+time.Duration(r)*2*turn)), r)
	}
	t.Logf("%9s%s", "", header.String())
	planned, perFork := Plan(budget, overhead, turn, 2)
	plannedRounds := int(perFork / (2 * turn))
	for _, bias := range []float64{0.01, 0.02} {
		m := standard.but(fmt.Sprintf("bias %.0f %%", 100*bias), func(m *machine) { m.bias = bias })
		width := func(forks, rounds int) float64 {
			var sum atomic.Int64 // in millionths
			const n = 150
			each(m, n, func(_ int, w *world) {
				sum.Add(int64(1e6 * compare(w.pair(forks, rounds, 1)).Detectable / n))
			})
			return float64(sum.Load()) / 1e6
		}
		line, best := "", math.Inf(1)
		for _, r := range rounds {
			d := width(int(budget/(overhead+time.Duration(r)*2*turn)), r)
			best = min(best, d)
			line += fmt.Sprintf(" %6.2f ", 100*d)
		}
		got := width(planned, plannedRounds)
		t.Logf("%s: %s  Plan %dx%d: %.2f", m.name, line, planned, plannedRounds, 100*got)
		if got > 1.1*best {
			t.Errorf("%s: Plan makes %d x %d, which resolves %.4f; another split resolves %.4f", m.name, planned, plannedRounds, got, best)
		}
	}
}
