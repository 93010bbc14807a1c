package verdict

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Pair holds what base and arm measured in one unit, in turns.
//
// Base[i] are the values of fork i, that is of one process of base, in the
// order in which they were taken, and Arm[i] those of the process that ran
// beside it. Base[i][j] and Arm[i][j] are round j: one turn of each, adjacent in
// time, in whichever order. Forks may have different numbers of rounds.
//
// A unit that has one value per process (B/op, allocs/op, a percentile) is a
// Pair with forks of one round.
//
// Values are finite and not negative; zero is allowed.
type Pair struct {
	Base, Arm [][]float64
}

// PerFork is the Pair of a unit with one value per process: base[i] and arm[i]
// are the values of fork i.
func PerFork(base, arm []float64) Pair {
	rounds := func(values []float64) [][]float64 {
		forks := make([][]float64, len(values))
		for i := range values {
			forks[i] = values[i : i+1 : i+1]
		}
		return forks
	}
	return Pair{Base: rounds(base), Arm: rounds(arm)}
}

// check returns an error that names the first place where p is no Pair.
func (p Pair) check() error {
	if len(p.Base) != len(p.Arm) {
		return fmt.Errorf("verdict: base has %d forks, arm has %d", len(p.Base), len(p.Arm))
	}
	if len(p.Base) == 0 {
		return errors.New("verdict: no forks")
	}
	for i := range p.Base {
		base, arm := p.Base[i], p.Arm[i]
		if len(base) != len(arm) {
			return fmt.Errorf("verdict: fork %d: base has %d rounds, arm has %d", i, len(base), len(arm))
		}
		if len(base) == 0 {
			return fmt.Errorf("verdict: fork %d has no rounds", i)
		}
		for j := range base {
			if !valid(base[j]) {
				return fmt.Errorf("verdict: fork %d round %d: base is %v, want a finite value of at least 0", i, j, base[j])
			}
			if !valid(arm[j]) {
				return fmt.Errorf("verdict: fork %d round %d: arm is %v, want a finite value of at least 0", i, j, arm[j])
			}
		}
	}
	return nil
}

func valid(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// linear says that some round has a zero on one side only, so that ratios do
// not exist.
func (p Pair) linear() bool {
	for i := range p.Base {
		for j, base := range p.Base[i] {
			if (base == 0) != (p.Arm[i][j] == 0) {
				return true
			}
		}
	}
	return false
}

// A fork is what one pair of processes says.
type fork struct {
	location float64 // of arm against base: log ratio, or difference where ratios do not exist
	total    float64 // the same of the sums over all rounds
	base     float64 // typical value of base
	arm      float64 // and of arm
	rounds   int
}

// reduce makes each pair of processes one piece of evidence.
func (p Pair) reduce(linear bool) []fork {
	forks := make([]fork, len(p.Base))
	var buf []float64
	for i := range p.Base {
		base, arm := p.Base[i], p.Arm[i]
		f := &forks[i]
		f.rounds = len(base)
		if linear {
			f.base, f.arm = mean(base), mean(arm)
			f.location = f.arm - f.base
			f.total = f.location
			continue
		}
		buf = buf[:0]
		for j := range base {
			buf = append(buf, logRatio(base[j], arm[j]))
		}
		slices.Sort(buf)
		f.location = trimmedMean(buf)
		f.total = logRatio(mean(base), mean(arm))
		f.base, f.arm = median(base), median(arm)
	}
	return forks
}

// rounding is the log ratio below which values are equal: what is left of
// decimal fractions that float64 cannot hold. No unit is measured to nine
// digits.
const rounding = 1e-9

// logRatio is log(arm/base). Equal values, zeros included, have ratio 1.
func logRatio(base, arm float64) float64 {
	if base == arm {
		return 0
	}
	d := math.Log(arm / base)
	if math.Abs(d) < rounding {
		return 0
	}
	return d
}

// trim is the share of rounds that trimmedMean leaves out on each side.
const trim = 0.2

// trimmedMean is the mean of sorted without the floor(trim*n) lowest and as
// many of the highest.
func trimmedMean(sorted []float64) float64 {
	cut := int(trim * float64(len(sorted)))
	return mean(sorted[cut : len(sorted)-cut])
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func median(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
