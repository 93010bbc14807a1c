package verdict

import (
	"math"
	"time"
)

// What Plan and Resolvable assume about a machine before anything is measured,
// in logs.
const (
	assumedBias  = 0.015 // standard deviation of what a process keeps for life
	assumedRound = 0.20  // standard error of a fork's log ratio from its rounds, times sqrt(rounds)
)

// minRounds is the least number of rounds of a planned fork: below five,
// trimming does nothing.
const minRounds = 5

// Plan splits the time budget of one comparison: how many forks, and for how
// long the arms of a fork take turns. overhead is what a fork costs beside
// that, the start and warm-up of all its processes; turn is the length of a
// turn; arms is how many take turns, base included. Forks*(overhead+perFork)
// is within the budget, except that there are at least MinForks forks of
// five rounds, which a very small budget does not hold.
//
// The split is the one with the smallest Resolvable. With costs but without
// the t distribution it would be m = sqrt(overhead/(arms*turn) * round²/(2 bias²))
// rounds in every fork (W. Cochran, Sampling Techniques, 1977, section 10.6;
// T. Kalibera and R. Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013).
func Plan(budget, overhead, turn time.Duration, arms int) (forks int, perFork time.Duration) {
	round := turn * time.Duration(arms)
	forks, perFork = MinForks, minRounds*round
	best := math.Inf(1)
	for n := MinForks; ; n++ {
		rounds := (budget/time.Duration(n) - overhead) / round
		if rounds < minRounds {
			return forks, perFork
		}
		if r := Resolvable(n, int(rounds)); r < best {
			best, forks, perFork = r, n, rounds*round
		}
	}
}

// Resolvable is the difference, as a share, that a run of forks and rounds is
// expected to find 80 times in 100 at p < 0.05, to be said before it starts:
//
//	exp((t(0.975) + t(0.8)) sqrt((2 bias² + round²/rounds) / forks)) - 1
//
// with forks-1 degrees of freedom, a bias of 1.5 % per process and a noise of
// 20 % per round. It is +Inf for fewer than two forks or without rounds. Estimate.Detectable
// is the same after the run, from what was measured.
func Resolvable(forks, rounds int) float64 {
	if forks < 2 || rounds < 1 {
		return math.Inf(1)
	}
	variance := 2*assumedBias*assumedBias + assumedRound*assumedRound/float64(rounds)
	return math.Expm1(reach(forks, 0.05, power) * math.Sqrt(variance/float64(forks)))
}
