package verdict

import (
	"math"
	"slices"
	"testing"
)

func TestHolm(t *testing.T) {
	for _, test := range []struct {
		name    string
		p, want []float64
	}{
		{"none", nil, nil},
		{"one", []float64{0.03}, []float64{0.03}},
		// The usual example: 4 x 0.005, 3 x 0.01, 2 x 0.03, and 0.04, which
		// must not be below its predecessor.
		{"textbook", []float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{"at most 1", []float64{0.9, 0.8}, []float64{1, 1}},
		{"ties", []float64{0.02, 0.02}, []float64{0.04, 0.04}},
		{"zero", []float64{0, 0.04}, []float64{0, 0.04}},
		{"a row without a test", []float64{0.02, math.NaN(), 0.04}, []float64{0.04, math.NaN(), 0.04}},
	} {
		p := slices.Clone(test.p)
		got := Holm(p)
		same := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 || math.IsNaN(a) && math.IsNaN(b) }
		if !slices.EqualFunc(got, test.want, same) {
			t.Errorf("%s: Holm(%v) = %v, want %v", test.name, test.p, got, test.want)
		}
		if !slices.EqualFunc(p, test.p, same) {
			t.Errorf("%s: Holm modified its argument: %v", test.name, p)
		}
	}
}
