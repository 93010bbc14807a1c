package verdict

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Verdict is what is said about arm against base.
type Verdict int

const (
	Inconclusive Verdict = iota // the run was too short to say
	Same                        // the difference, if any, is within the threshold
	Faster                      // better, in the direction of the unit
	Slower                      // worse
	More                        // larger, in a unit without direction
	Less                        // smaller
)

func (v Verdict) String() string { return v.Word("ns/op") }

// Word is the verdict in the words of the unit: "faster" and "slower" for times
// and rates, "better" and "worse" for other units with a direction, "more" and
// "less" for those without.
func (v Verdict) Word(unit string) string {
	switch v {
	case Inconclusive:
		return "inconclusive"
	case Same:
		return "same"
	case More:
		return "more"
	case Less:
		return "less"
	case Faster:
		if speed(unit) {
			return "faster"
		}
		return "better"
	case Slower:
		if speed(unit) {
			return "slower"
		}
		return "worse"
	}
	return fmt.Sprintf("Verdict(%d)", int(v))
}

// A Decision is a Verdict with what the reader needs to do next.
type Decision struct {
	Verdict Verdict

	// P is the p value that was decided on, after Holm.
	P float64

	// Time is, for an inconclusive comparison, how many times as many forks
	// would decide it, with a probability of 80 % if the estimate is right:
	// 2.5 means 2.5 times as long in all. It is +Inf where no time would
	// do, because the difference is outside the threshold and below the
	// floor, or because neither error nor p is known. 0 when decided.
	Time float64
}

// Decide says one of three things about e: faster or slower (more or less, in a
// unit without direction), when adjusted, its p after Holm, is below Alpha, the
// interval excludes no change, and the difference is above Floor; same, when
// the interval is within Threshold; and otherwise inconclusive. Fewer than
// MinForks forks are always inconclusive.
//
// A difference that is significant and within the threshold is called faster or
// slower: both are true, and the reader sees the ratio.
func Decide(e Estimate, adjusted float64, d Direction, o Options) Decision {
	out := Decision{P: adjusted}
	limit := 1 + o.threshold()
	switch {
	case e.Forks < MinForks:
		out.Time = timeFactor(e, adjusted, o)
	case adjusted < o.alpha() && excludes(e) && size(e.Ratio) > o.Floor:
		out.Verdict = name(e.Ratio > 1, d)
	case e.Low >= 1/limit && e.High <= limit:
		out.Verdict = Same
	default:
		out.Time = timeFactor(e, adjusted, o)
	}
	return out
}

func excludes(e Estimate) bool { return e.Low > 1 || e.High < 1 }

// size is the difference as a share, whichever side of 1 the ratio is on.
func size(ratio float64) float64 {
	if ratio < 1 {
		ratio = 1 / ratio
	}
	return ratio - 1
}

func name(more bool, d Direction) Verdict {
	switch {
	case d == Neutral && more:
		return More
	case d == Neutral:
		return Less
	case more == (d == Higher):
		return Faster
	}
	return Slower
}

// Gate says whether e breaks a gate, a share such as 0.05: whether arm is
// worse than base by more than both the gate and Floor at the near end of the
// interval, and adjusted, its p after Holm, is below Alpha. A unit without
// direction and a run with fewer than MinForks forks break nothing.
//
// The near end is what keeps the gate quiet: an arm that truly is at the gate
// breaks it in Alpha/2 of the runs, an equal one in far fewer.
func Gate(e Estimate, adjusted float64, d Direction, gate float64, o Options) bool {
	if e.Forks < MinForks || !(adjusted < o.alpha()) {
		return false
	}
	limit := 1 + max(gate, o.Floor)
	switch d {
	case Lower:
		return e.Low > limit
	case Higher:
		return e.High < 1/limit
	}
	return false
}

// timeFactor is the Time of an inconclusive comparison: the fewer of the forks
// that it takes to find a difference of this size, if it is above the floor,
// and to show that one of this size is the same, if it is within the threshold.
func timeFactor(e Estimate, adjusted float64, o Options) float64 {
	if e.Forks < 2 || math.IsNaN(adjusted) {
		return math.Inf(1)
	}
	alpha := o.alpha()
	found := math.Inf(1)
	if size(e.Ratio) > o.Floor {
		strict := alpha // Holm's factor stays what it is
		if adjusted > e.P && e.P > 0 {
			strict = alpha * e.P / adjusted
		}
		found = forksFor(e, math.Abs(distance(e)), strict, power)
	}
	room := math.Log1p(o.threshold()) - math.Abs(distance(e))
	// Equivalence can fail on either side.
	same := forksFor(e, room, alpha, (1+power)/2)
	return math.Ceil(max(min(found, same), MinForks)) / float64(e.Forks)
}

// distance is how far e is from no change, in the scale of SE.
func distance(e Estimate) float64 {
	if e.NoRatio {
		return e.Ratio - 1
	}
	return math.Log(e.Ratio)
}

// forksFor is the number of forks that find a difference of d, in the scale of
// SE, at alpha with the given power; +Inf if that is more than anybody runs.
func forksFor(e Estimate, d, alpha, power float64) float64 {
	const most = 1e6
	if !(d > 0) {
		return math.Inf(1)
	}
	deviation := e.SE * math.Sqrt(float64(e.Forks))
	z := distuv.UnitNormal.Quantile(1-alpha/2) + distuv.UnitNormal.Quantile(power)
	// The normal distribution needs fewer, so the search starts there.
	least := math.Ceil(math.Pow(z*deviation/d, 2))
	if !(least <= most) {
		return math.Inf(1)
	}
	n := max(int(least), MinForks)
	for reach(n, alpha, power)*deviation > d*math.Sqrt(float64(n)) {
		n++
	}
	return float64(n)
}
