package verdict

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// MinForks is the number of forks below which nothing is decided. The t
// distribution keeps its promise from two forks on, but with two the interval
// is 6.5 times as wide as with many and with three 2.2 times, and units that
// come in whole numbers agree in two processes by chance.
const MinForks = 3

// Options say how sure a verdict has to be. The zero value is the default.
type Options struct {
	// Alpha is the share of false alarms that is accepted: of one
	// comparison for intervals and p, of a whole table for verdicts, since
	// these look at p after Holm. 0 means 0.05, which makes intervals
	// of 95 %.
	Alpha float64

	// Floor is the noise floor as a share: a difference that is no larger
	// is never called faster or slower. See the function Floor. 0 means that
	// the machine is believed to have none.
	Floor float64

	// Threshold is the largest difference, as a share, that counts as the
	// same. 0 means 0.05.
	Threshold float64
}

func (o Options) alpha() float64 {
	if o.Alpha == 0 {
		return 0.05
	}
	return o.Alpha
}

func (o Options) threshold() float64 {
	if o.Threshold == 0 {
		return 0.05
	}
	return o.Threshold
}

// An Estimate is what a Pair says about arm against base.
//
// Shares are log-symmetric: a difference of 5 % is a ratio of 1.05 or of 1/1.05,
// so that ns/op and its inverse, cmds/s, get the same verdict.
type Estimate struct {
	Forks  int // pairs of processes: the pieces of evidence
	Rounds int // of all forks together

	// Base and Arm are the typical values in the unit: the mean over forks
	// of the median of the rounds. Their quotient is close to Ratio but not
	// equal, since Ratio is taken round by round.
	Base, Arm float64

	// Ratio is arm/base, geometric: exp of the mean over forks of the
	// trimmed mean over rounds of log(Arm[i][j]/Base[i][j]).
	Ratio float64

	// Low and High are the ends of the interval of confidence 1-Alpha:
	// exp(log Ratio ± t(1-Alpha/2; Forks-1) SE). It is 0 and +Inf for a
	// single fork, and has no width when all forks agree exactly.
	Low, High float64

	// P is the probability of a difference at least this large between equal
	// arms: two-sided, t with Forks-1 degrees of freedom. It is 0 when all
	// forks agree on a difference and 1 when all agree on none.
	P float64

	// SE is the standard error of log Ratio; +Inf for a single fork.
	SE float64

	// Detectable is the smallest difference, as a share, that a run with
	// this SE finds 80 times in 100, before Holm:
	// exp((t(1-Alpha/2) + t(0.8)) SE) - 1.
	Detectable float64

	// Total is the ratio of the sums over all rounds of a fork, geometric
	// over forks. It contains the rare slow turns that Ratio trims, of the
	// clients and of the machine alike, and therefore has a larger error.
	Total float64

	// TailsDiffer warns that Ratio does not tell everything: Total differs
	// from it by more than chance explains (t test over forks, p < 0.01),
	// so that one of the arms has costs in few of its turns.
	TailsDiffer bool

	// NoRatio says that a round had a zero on one side only. Arithmetic
	// means over rounds and forks then take the place of geometric ones,
	// the t interval is that of the difference, and Ratio, Low, High, SE
	// and Detectable are relative to Base: Ratio is Arm/Base, +Inf for 0
	// against 1, and Low and High are cut off at 0. Show Base and Arm
	// instead of a percentage.
	NoRatio bool
}

// Compare estimates arm against base. The error names the place where p is no
// Pair: unequal numbers of forks or rounds, or a value that is negative, infinite
// or no number.
func Compare(p Pair, o Options) (Estimate, error) {
	if err := p.check(); err != nil {
		return Estimate{}, err
	}
	linear := p.linear()
	return estimate(p.reduce(linear), linear, o.alpha()), nil
}

// estimate looks at the forks together. Forks count alike however many rounds
// they have: their biases, which rounds do not average out, are the larger
// part of the error, and weights would have to be estimated as well.
func estimate(forks []fork, linear bool, alpha float64) Estimate {
	n := len(forks)
	e := Estimate{Forks: n, NoRatio: linear}
	locations := make([]float64, n)
	tails := make([]float64, n)
	var total float64
	for i, f := range forks {
		locations[i] = f.location
		tails[i] = f.total - f.location
		total += f.total / float64(n)
		e.Base += f.base / float64(n)
		e.Arm += f.arm / float64(n)
		e.Rounds += f.rounds
	}
	t := student(locations)
	e.P, e.SE = t.p, t.se
	half, detectable := 0.0, 0.0
	switch {
	case n < 2:
		half, detectable = math.Inf(1), math.Inf(1)
	case t.se > 0:
		half = distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(1-alpha/2) * t.se
		detectable = reach(n, alpha, power) * t.se
	}
	if linear {
		e.relative(t, half, detectable)
		return e
	}
	e.Ratio, e.Total = math.Exp(t.mean), math.Exp(total)
	e.Low, e.High = math.Exp(t.mean-half), math.Exp(t.mean+half)
	e.Detectable = math.Expm1(detectable)
	e.TailsDiffer = n >= MinForks && student(tails).p < 0.01
	return e
}

// relative fills in what is a difference relative to Base.
func (e *Estimate) relative(t tTest, half, detectable float64) {
	share := func(d float64) float64 {
		if d == 0 { // not 0/0
			return 0
		}
		return d / e.Base
	}
	e.Ratio = 1 + share(t.mean)
	e.Low = max(0, 1+share(t.mean-half))
	e.High = max(0, 1+share(t.mean+half))
	e.Total = e.Ratio
	e.SE = share(t.se)
	e.Detectable = share(detectable)
}

// A tTest is a two-sided one-sample test of a mean of 0 (Student 1908).
type tTest struct {
	mean, se, p float64
}

// student tests values. A single one has no error that could be known, so
// it says nothing.
func student(values []float64) tTest {
	n := float64(len(values))
	t := tTest{mean: mean(values)}
	if n < 2 {
		t.se, t.p = math.Inf(1), 1
		return t
	}
	var squares float64
	for _, v := range values {
		squares += (v - t.mean) * (v - t.mean)
	}
	t.se = math.Sqrt(squares / (n - 1) / n)
	switch {
	case t.se > rounding*math.Abs(t.mean):
		t.p = 2 * distuv.StudentsT{Sigma: 1, Nu: n - 1}.CDF(-math.Abs(t.mean)/t.se)
	case t.mean != 0: // all agree, but for rounding
		t.se = 0
	default:
		t.p = 1
	}
	return t
}

// power is the probability with which a difference is meant to be found.
const power = 0.8

// reach is how many standard errors a difference measures that n forks find at
// alpha with the given power: the usual approximation of the noncentral t
// distribution by t(1-alpha/2) + t(power).
func reach(n int, alpha, power float64) float64 {
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}
	return t.Quantile(1-alpha/2) + t.Quantile(power)
}
