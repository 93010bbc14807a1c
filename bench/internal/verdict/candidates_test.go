package verdict

import (
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/stat/distuv"
)

// A candidate is a way to turn a Pair into a p value.
type candidate struct {
	name string
	p    func(Pair) float64
}

// How to make one number of a fork, and how to test the forks. The first of
// each is what Compare does.
var (
	locations = []struct {
		name string
		of   func(base, arm []float64) float64
	}{
		{"trimmed mean 20 %", func(base, arm []float64) float64 { return trimmedBy(0.2, base, arm) }},
		{"trimmed mean 10 %", func(base, arm []float64) float64 { return trimmedBy(0.1, base, arm) }},
		{"median", func(base, arm []float64) float64 { return median(logRatios(base, arm)) }},
		{"Hodges-Lehmann", func(base, arm []float64) float64 { return hodgesLehmann(logRatios(base, arm)) }},
		{"mean", func(base, arm []float64) float64 { return mean(logRatios(base, arm)) }},
		{"ratio of sums", func(base, arm []float64) float64 { return math.Log(mean(arm) / mean(base)) }},
		{"ratio of medians", func(base, arm []float64) float64 { return math.Log(median(arm) / median(base)) }},
	}
	tests = []candidate{
		{"t", func(p Pair) float64 { return student(trimmed(p)).p }},
		{"signed rank", func(p Pair) float64 { return signedRank(trimmed(p)) }},
		{"bootstrap", func(p Pair) float64 { return bootstrap(trimmed(p)) }},
		{"mixed model, REML", mixed},
		{"U test of fork medians (benchstat)", func(p Pair) float64 { return uTest(medians(p.Base), medians(p.Arm)) }},
		{"each round as evidence, paired t", func(p Pair) float64 {
			var all []float64
			for i := range p.Base {
				all = append(all, logRatios(p.Base[i], p.Arm[i])...)
			}
			return student(all).p
		}},
		{"each round as evidence, U test", func(p Pair) float64 {
			return uTest(slices.Concat(p.Base...), slices.Concat(p.Arm...))
		}},
	}
)

func logRatios(base, arm []float64) []float64 {
	d := make([]float64, len(base))
	for j := range base {
		d[j] = logRatio(base[j], arm[j])
	}
	return d
}

func trimmedBy(share float64, base, arm []float64) float64 {
	d := logRatios(base, arm)
	slices.Sort(d)
	cut := int(share * float64(len(d)))
	return mean(d[cut : len(d)-cut])
}

func trimmed(p Pair) []float64 {
	d := make([]float64, len(p.Base))
	for i, f := range p.reduce(false) {
		d[i] = f.location
	}
	return d
}

func medians(forks [][]float64) []float64 {
	m := make([]float64, len(forks))
	for i := range forks {
		m[i] = median(forks[i])
	}
	return m
}

// hodgesLehmann is the median of the means of all pairs of values.
func hodgesLehmann(d []float64) float64 {
	var walsh []float64
	for i := range d {
		for j := range i + 1 {
			walsh = append(walsh, (d[i]+d[j])/2)
		}
	}
	return median(walsh)
}

// signedRank is the exact two-sided p of Wilcoxon's test.
func signedRank(d []float64) float64 {
	sorted := slices.Clone(d)
	slices.SortFunc(sorted, func(a, b float64) int {
		if math.Abs(a) < math.Abs(b) {
			return -1
		}
		return 1
	})
	var w int
	most := len(d) * (len(d) + 1) / 2
	ways := make([]float64, most+1) // signs with this sum of positive ranks
	ways[0] = 1
	for i, v := range sorted {
		rank := i + 1
		if v > 0 {
			w += rank
		}
		for s := most; s >= rank; s-- {
			ways[s] += ways[s-rank]
		}
	}
	var tail float64
	for s := range min(w, most-w) + 1 {
		tail += ways[s]
	}
	return min(1, 2*tail/math.Exp2(float64(len(d))))
}

// bootstrap is the smallest alpha at which the percentile interval of the mean
// excludes 0, from 500 resamples of the forks.
func bootstrap(d []float64) float64 {
	const resamples = 500
	r := rand.New(rand.NewPCG(1, math.Float64bits(d[0])))
	below := 0
	for range resamples {
		var sum float64
		for range d {
			sum += d[r.IntN(len(d))]
		}
		if sum < 0 {
			below++
		}
	}
	return 2 * float64(min(below, resamples-below)) / resamples
}

// mixed is the mixed model with a random effect of the fork, by the method of
// moments, which is REML for balanced forks. While the variance between forks
// is positive it is the t test on fork means; where the estimate would be
// negative it becomes 0, the rounds are pooled, and the degrees of freedom are those of
// all rounds.
func mixed(p Pair) float64 {
	var all, means []float64
	var within, freedom float64
	for i := range p.Base {
		d := logRatios(p.Base[i], p.Arm[i])
		m := mean(d)
		for _, v := range d {
			within += (v - m) * (v - m)
		}
		freedom += float64(len(d) - 1)
		means = append(means, m)
		all = append(all, d...)
	}
	between := student(means)
	if between.se*between.se*float64(len(means)) >= within/freedom*float64(len(means))/float64(len(all)) {
		return between.p
	}
	return student(all).p
}

// uTest is benchstat's test, with the normal approximation where benchmath's
// exact one would take too long.
func uTest(base, arm []float64) float64 {
	if len(base) <= 25 {
		t := benchmath.DefaultThresholds
		return benchmath.AssumeNothing.Compare(
			benchmath.NewSample(slices.Clone(base), &t), benchmath.NewSample(slices.Clone(arm), &t)).P
	}
	type value struct {
		v   float64
		arm bool
	}
	var all []value
	for _, v := range base {
		all = append(all, value{v, false})
	}
	for _, v := range arm {
		all = append(all, value{v, true})
	}
	slices.SortFunc(all, func(a, b value) int {
		if a.v < b.v {
			return -1
		}
		return 1
	})
	var ranks float64
	for i, v := range all {
		if v.arm {
			ranks += float64(i + 1)
		}
	}
	n, m := float64(len(base)), float64(len(arm))
	z := (ranks - m*(n+m+1)/2) / math.Sqrt(n*m*(n+m+1)/12)
	return 2 * distuv.UnitNormal.CDF(-math.Abs(z))
}
