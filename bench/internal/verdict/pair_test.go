package verdict

import (
	"math"
	"strings"
	"testing"
)

func TestCompareNamesWhatIsWrong(t *testing.T) {
	one := [][]float64{{1}, {1}}
	for _, test := range []struct {
		name string
		pair Pair
		want string
	}{
		{"nothing", Pair{}, "no forks"},
		{"unequal forks", Pair{Base: one, Arm: one[:1]}, "base has 2 forks, arm has 1"},
		{"unequal rounds", Pair{Base: one, Arm: [][]float64{{1}, {1, 2}}}, "fork 1: base has 1 rounds, arm has 2"},
		{"no rounds", Pair{Base: [][]float64{{1}, {}}, Arm: [][]float64{{1}, {}}}, "fork 1 has no rounds"},
		{"NaN", Pair{Base: one, Arm: [][]float64{{1}, {math.NaN()}}}, "fork 1 round 0: arm is NaN"},
		{"negative", Pair{Base: [][]float64{{1}, {-2}}, Arm: one}, "fork 1 round 0: base is -2"},
		{"infinite", Pair{Base: one, Arm: [][]float64{{math.Inf(1)}, {1}}}, "fork 0 round 0: arm is +Inf"},
	} {
		_, err := Compare(test.pair, Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}

func TestTrimmedMean(t *testing.T) {
	for _, test := range []struct {
		sorted []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{1, 2, 3, 100}, 26.5},                           // four: nothing is trimmed
		{[]float64{-100, 1, 2, 6, 100}, 3},                        // one on each side
		{[]float64{-9, -9, 1, 2, 3, 4, 5, 6, 100, 1000}, 21. / 6}, // two on each side
	} {
		if got := trimmedMean(test.sorted); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("trimmedMean(%v) = %v, want %v", test.sorted, got, test.want)
		}
	}
}

func TestMedianLeavesItsArgument(t *testing.T) {
	values := []float64{3, 1, 2, 10}
	if got := median(values); got != 2.5 {
		t.Errorf("median(3 1 2 10) = %v, want 2.5", got)
	}
	if values[0] != 3 {
		t.Errorf("median sorted the values of its caller: %v", values)
	}
}
