package verdict

import (
	"math"
	"testing"
	"time"
)

func TestPlanKeepsTheBudget(t *testing.T) {
	const overhead, turn = 150 * time.Millisecond, 4 * time.Millisecond
	for _, budget := range []time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute} {
		for _, arms := range []int{2, 4, 8} {
			forks, perFork := Plan(budget, overhead, turn, arms)
			round := turn * time.Duration(arms)
			if spent := time.Duration(forks) * (overhead + perFork); spent > budget {
				t.Errorf("%v, %d arms: %d forks of %v spend %v", budget, arms, forks, perFork, spent)
			}
			if perFork%round != 0 || perFork < minRounds*round || forks < MinForks {
				t.Errorf("%v, %d arms: %d forks of %v, rounds of %v", budget, arms, forks, perFork, round)
			}
		}
	}
}

func TestPlanOfALargeBudgetIsTheTextbookSplit(t *testing.T) {
	const overhead, turn = 150 * time.Millisecond, 4 * time.Millisecond
	_, perFork := Plan(10*time.Minute, overhead, turn, 2)
	want := math.Sqrt(overhead.Seconds() / (2 * turn).Seconds() * assumedRound * assumedRound / (2 * assumedBias * assumedBias))
	if got := float64(perFork / (2 * turn)); math.Abs(got-want) > 0.1*want {
		t.Errorf("%v rounds in a fork, want about %.0f", got, want)
	}
}

func TestPlanOfATinyBudget(t *testing.T) {
	forks, perFork := Plan(time.Millisecond, time.Second, 4*time.Millisecond, 2)
	if forks != MinForks || perFork != minRounds*8*time.Millisecond {
		t.Errorf("%d forks of %v, want the least", forks, perFork)
	}
}

func TestResolvable(t *testing.T) {
	// sqrt((2 x 0.015² + 0.20²/50)/20) = 0.0079057; t(0.975; 19) + t(0.8; 19)
	// = 2.0930 + 0.8610.
	if got, want := Resolvable(20, 50), math.Expm1(0.0079057*2.9540); !near(got, want) {
		t.Errorf("Resolvable(20, 50) = %v, want %v", got, want)
	}
	for _, shape := range [][2]int{{0, 10}, {1, 10}, {10, 0}} {
		if got := Resolvable(shape[0], shape[1]); !math.IsInf(got, 1) {
			t.Errorf("Resolvable(%d, %d) = %v, want +Inf", shape[0], shape[1], got)
		}
	}
}
