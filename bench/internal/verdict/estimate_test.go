package verdict

import (
	"math"
	"testing"
)

func near(got, want float64) bool {
	return got == want || math.Abs(got-want) <= 1e-3*math.Abs(want)
}

// Log ratios 0.01, 0.02, 0.03: mean 0.02, standard deviation 0.01, so
// SE = 0.01/sqrt(3) = 0.0057735 and t = 3.4641 with 2 degrees of freedom:
// p = 1 - t/sqrt(2+t²) = 0.07418, and t(0.975; 2) = 4.3027.
func TestCompareByHand(t *testing.T) {
	var p Pair
	for i, d := range []float64{0.01, 0.02, 0.03} {
		speed := float64(i + 1) // the machine's, which cancels
		p.Base = append(p.Base, []float64{100 * speed, 150 * speed})
		p.Arm = append(p.Arm, []float64{100 * speed * math.Exp(d), 150 * speed * math.Exp(d)})
	}
	e, err := Compare(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"Ratio", e.Ratio, 1.020201},
		{"Total", e.Total, 1.020201},
		{"SE", e.SE, 0.0057735},
		{"P", e.P, 0.07418},
		{"Low", e.Low, math.Exp(0.02 - 4.3027*0.0057735)},
		{"High", e.High, math.Exp(0.02 + 4.3027*0.0057735)},
		{"Detectable", e.Detectable, math.Expm1((4.3027 + 1.0607) * 0.0057735)},
		{"Base", e.Base, 250},
		{"Forks", float64(e.Forks), 3},
		{"Rounds", float64(e.Rounds), 6},
	} {
		if !near(test.got, test.want) {
			t.Errorf("%s = %v, want %v", test.name, test.got, test.want)
		}
	}
	wide, err := Compare(p, Options{Alpha: 0.01}) // t(0.995; 2) = 9.9248
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Exp(0.02 + 9.9248*0.0057735); !near(wide.High, want) {
		t.Errorf("with Alpha 0.01: High = %v, want %v", wide.High, want)
	}
}

// Exchanging base and arm inverts everything and changes no p.
func TestCompareIsSymmetric(t *testing.T) {
	p := standard.run(1, 2).pair(6, 20, 1.02)
	e, f := compare(p), compare(Pair{Base: p.Arm, Arm: p.Base})
	if !near(e.Ratio, 1/f.Ratio) || !near(e.Low, 1/f.High) || !near(e.P, f.P) || !near(e.Detectable, f.Detectable) {
		t.Errorf("exchanged:\n%+v\n%+v", e, f)
	}
}

func TestOneSlowTurnChangesLittle(t *testing.T) {
	p := calm.run(1, 2).pair(6, 20, 1)
	before := compare(p)
	p.Arm[2][3] *= 1000
	if after := compare(p); math.Abs(after.Ratio-before.Ratio) > 0.002 {
		t.Errorf("ratio %v, after one turn of 1000 times its length %v", before.Ratio, after.Ratio)
	}
}

func TestUnitsOfOneValuePerFork(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct {
		name             string
		base, arm        []float64
		ratio, low, high float64
		p                float64
		noRatio          bool
		verdict          Verdict
	}{
		{"none at all", []float64{0, 0, 0}, []float64{0, 0, 0}, 1, 1, 1, 1, false, Same},
		{"constant and equal", []float64{1, 1, 1}, []float64{1, 1, 1}, 1, 1, 1, 1, false, Same},
		{"equal but for rounding", []float64{0.1 + 0.2, 1, 1}, []float64{0.3, 1, 1}, 1, 1, 1, 1, false, Same},
		{"constant and different", []float64{1, 1, 1}, []float64{2, 2, 2}, 2, 2, 2, 0, false, Slower},
		{"constant ratio", []float64{3, 7, 0.1}, []float64{6, 14, 0.2}, 2, 2, 2, 0, false, Slower},
		{"equal, zero in one fork", []float64{0, 1, 1}, []float64{0, 1, 1}, 1, 1, 1, 1, false, Same},
		{"something instead of nothing", []float64{0, 0, 0}, []float64{1, 1, 1}, inf, inf, inf, 0, true, Slower},
		{"nothing instead of something", []float64{1, 1, 1}, []float64{0, 0, 0}, 0, 0, 0, 0, true, Faster},
		// Differences 0, 0, 1: mean 1/3, SE 1/3, t = 1, p = 1 - 1/sqrt(3).
		{"sometimes one", []float64{0, 0, 0}, []float64{0, 0, 1}, inf, 0, inf, 0.42265, true, Inconclusive},
		{"one value", []float64{1}, []float64{2}, 2, 0, inf, 1, false, Inconclusive},
		{"two values that agree", []float64{1, 1}, []float64{2, 2}, 2, 2, 2, 0, false, Inconclusive},
	} {
		e, err := Compare(PerFork(test.base, test.arm), Options{})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if !near(e.Ratio, test.ratio) || !near(e.Low, test.low) || !near(e.High, test.high) ||
			!near(e.P, test.p) || e.NoRatio != test.noRatio {
			t.Errorf("%s: %+v, want ratio %v (%v to %v), p %v, NoRatio %v",
				test.name, e, test.ratio, test.low, test.high, test.p, test.noRatio)
		}
		if got := Decide(e, e.P, Lower, Options{}); got.Verdict != test.verdict {
			t.Errorf("%s: %v, want %v", test.name, got, test.verdict)
		}
		if Gate(e, e.P, Lower, 0.05, Options{}) != (test.verdict == Slower) {
			t.Errorf("%s: the gate is broken: %v", test.name, test.verdict != Slower)
		}
	}
}

func TestNoRatioIsRelativeToBase(t *testing.T) {
	// Differences 2, 1, 3 on a base of mean 4: mean 2, SE 1/sqrt(3).
	e := compare(PerFork([]float64{0, 5, 7}, []float64{2, 6, 10}))
	half := 4.3027 / math.Sqrt(3)
	if !e.NoRatio || e.Base != 4 || e.Arm != 6 || !near(e.Ratio, 1.5) ||
		!near(e.Low, 1+(2-half)/4) || !near(e.High, 1+(2+half)/4) || !near(e.SE, 1/math.Sqrt(3)/4) {
		t.Errorf("%+v", e)
	}
}
