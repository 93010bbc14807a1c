package forks_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"rcbench/bench/internal/forks"
)

// TestPairTakesTheRoundsThatBothHave, fork by fork, in the order of rounds,
// whichever of the two came first in a round.
func TestPairTakesTheRoundsThatBothHave(t *testing.T) {
	turn := func(comparison, fork, entry, round int, nsPerOp, allocs int64) forks.Slice {
		s := slice(comparison, fork, entry, round, 10)
		s.Elapsed, s.Mallocs = 10*time.Duration(nsPerOp), 10*allocs
		return s
	}
	r := &forks.Result{Slices: []forks.Slice{
		turn(0, 0, 0, 0, 100, 1), turn(0, 0, 2, 0, 200, 5), turn(0, 0, 1, 0, 999, 9),
		turn(0, 0, 2, 1, 210, 7), turn(0, 0, 1, 1, 999, 9), turn(0, 0, 0, 1, 110, 3),
		turn(1, 0, 0, 0, 777, 7), turn(1, 0, 2, 0, 777, 7), // another comparison
		turn(0, 1, 0, 0, 120, 1), // the arm was not there in this fork
		turn(0, 2, 2, 0, 230, 4), turn(0, 2, 0, 0, 130, 2),
		turn(0, 2, 0, 1, 140, 2), // the run was ended here
	}}
	got := r.Pair(0, 0, 2, forks.Time)
	if want := [][]float64{{100, 110}, {130}}; !reflect.DeepEqual(got.Base, want) {
		t.Errorf("ns/op of the base %v, want %v", got.Base, want)
	}
	if want := [][]float64{{200, 210}, {230}}; !reflect.DeepEqual(got.Arm, want) {
		t.Errorf("ns/op of the arm %v, want %v", got.Arm, want)
	}
	got = r.Pair(0, 0, 2, forks.Allocs) // a figure of whole forks
	if want := [][]float64{{2}, {2}}; !reflect.DeepEqual(got.Base, want) {
		t.Errorf("allocs/op of the base %v, want %v", got.Base, want)
	}
	if want := [][]float64{{6}, {4}}; !reflect.DeepEqual(got.Arm, want) {
		t.Errorf("allocs/op of the arm %v, want %v", got.Arm, want)
	}
	if none := r.Pair(0, 0, 3, forks.Time); len(none.Base) != 0 || len(none.Arm) != 0 {
		t.Errorf("with an entry that has no turns: %v", none)
	}
}

func TestHas(t *testing.T) {
	r := &forks.Result{
		Slices:   []forks.Slice{slice(0, 0, 0, 0, 1), slice(0, 0, 1, 0, 1), slice(1, 0, 1, 0, 1)},
		Failures: []forks.Failure{{Comparison: 0, Entry: 1, Err: errors.New("lost")}, {Comparison: -1, Entry: 0, Err: errors.New("start")}},
	}
	for _, tt := range []struct {
		comparison, entry int
		want              bool
	}{{0, 0, true}, {0, 1, false}, {1, 1, true}, {1, 0, false}, {2, 0, false}} {
		if got := r.Has(tt.comparison, tt.entry); got != tt.want {
			t.Errorf("Has(%d, %d) = %v, want %v", tt.comparison, tt.entry, got, tt.want)
		}
	}
}
