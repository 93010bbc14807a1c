package verdict

import (
	"math"
	"testing"
)

func TestNewRate(t *testing.T) {
	for _, test := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 20, 0, 0.16843},     // 1 - 0.025^(1/20)
		{20, 20, 0.83157, 1},    // its mirror
		{1, 1, 0.025, 1},        // 0.025^(1/1)
		{5, 20, 0.08657, 0.491}, // tables of Clopper and Pearson
		{0, 0, 0, 1},
	} {
		r := NewRate(test.k, test.n, 0.95)
		if !near(r.Low, test.low) || !near(r.High, test.high) {
			t.Errorf("%d of %d: %v to %v, want %v to %v", test.k, test.n, r.Low, r.High, test.low, test.high)
		}
	}
	if got, want := NewRate(3, 200, 0.95).String(), "3 of 200 (1.5 %, 0.3 to 4.3 %)"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
	if got := NewRate(0, 0, 0.95); got.String() != "0 of 0" || !math.IsNaN(got.Share()) {
		t.Errorf("nothing of nothing: %v, share %v", got, got.Share())
	}
}

func TestNewRatePanicsOnNonsense(t *testing.T) {
	for _, kn := range [][2]int{{-1, 5}, {6, 5}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("NewRate(%d, %d) did not panic", kn[0], kn[1])
				}
			}()
			NewRate(kn[0], kn[1], 0.95)
		}()
	}
}

func TestFloor(t *testing.T) {
	ratio := func(r float64) Estimate { return Estimate{Ratio: r} }
	if got := Floor(); got != 0 {
		t.Errorf("of nothing: %v, want 0", got)
	}
	if got := Floor(ratio(1.01), ratio(1/1.03), ratio(1), Estimate{Ratio: 9, NoRatio: true}); !near(got, 0.03) {
		t.Errorf("of three: %v, want the largest, 0.03", got)
	}
	var aa []Estimate
	for i := range 100 {
		aa = append(aa, ratio(1+float64(i+1)/1000))
	}
	if got := Floor(aa...); !near(got, 0.095) {
		t.Errorf("of 0.1 %% to 10 %%: %v, want 0.095", got)
	}
}
