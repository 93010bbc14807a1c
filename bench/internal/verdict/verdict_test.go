package verdict

import (
	"math"
	"testing"
)

// measured is an Estimate of ten forks.
func measured(ratio, se float64) Estimate {
	const t975 = 2.2622 // 9 degrees of freedom
	log := math.Log(ratio)
	e := Estimate{Forks: 10, Ratio: ratio, SE: se, P: 1, Low: math.Exp(log - t975*se), High: math.Exp(log + t975*se)}
	if math.Abs(log) > t975*se {
		e.P = 0.01
	}
	return e
}

func TestDecide(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct {
		name      string
		e         Estimate
		adjusted  float64
		direction Direction
		options   Options
		verdict   Verdict
		time      float64
	}{
		{"slower", measured(1.1, 0.01), 0.01, Lower, Options{}, Slower, 0},
		{"faster", measured(0.9, 0.01), 0.01, Lower, Options{}, Faster, 0},
		{"throughput grew", measured(1.1, 0.01), 0.01, Higher, Options{}, Faster, 0},
		{"throughput fell", measured(0.9, 0.01), 0.01, Higher, Options{}, Slower, 0},
		{"no direction, grew", measured(1.1, 0.01), 0.01, Neutral, Options{}, More, 0},
		{"no direction, fell", measured(0.9, 0.01), 0.01, Neutral, Options{}, Less, 0},
		{"same", measured(1.01, 0.01), 1, Lower, Options{}, Same, 0},
		// (t(0.975)+t(0.9)) 0.01 sqrt(10)/0.00895 <= sqrt(n) for n = 134.
		{"threshold too tight for same", measured(1.001, 0.01), 1, Lower, Options{Threshold: 0.01}, Inconclusive, 13.4},
		{"small and certain is no tie", measured(1.02, 0.002), 0.001, Lower, Options{}, Slower, 0},
		{"below the floor and within the threshold", measured(1.02, 0.002), 0.001, Lower, Options{Floor: 0.03}, Same, 0},
		{"below the floor and outside the threshold", measured(1.08, 0.002), 0.001, Lower, Options{Floor: 0.1}, Inconclusive, inf},
		{"not after Holm", measured(1.08, 0.025), 0.08, Lower, Options{}, Inconclusive, 1.7},
		// (t(0.975)+t(0.8)) 0.03 sqrt(10)/0.0488 <= sqrt(n) for n = 32.
		{"too wide", measured(1.05, 0.03), 0.14, Lower, Options{}, Inconclusive, 3.2},
		{"p is no number", measured(1.1, 0.01), math.NaN(), Lower, Options{}, Inconclusive, inf},
	} {
		got := Decide(test.e, test.adjusted, test.direction, test.options)
		if got.Verdict != test.verdict || math.Abs(got.Time-test.time) > 0.05*test.time && got.Time != test.time {
			t.Errorf("%s: %+v, want %v and time %v", test.name, got, test.verdict, test.time)
		}
	}
}

func TestFewForksDecideNothing(t *testing.T) {
	e := compare(PerFork([]float64{1, 1.01}, []float64{2, 2.01}))
	got := Decide(e, 0, Lower, Options{})
	if got.Verdict != Inconclusive || got.Time != 1.5 {
		t.Errorf("two forks: %+v, want inconclusive, to be decided by three", got)
	}
	if Gate(e, 0, Lower, 0.05, Options{}) {
		t.Error("two forks break the gate")
	}
	one := compare(PerFork([]float64{1}, []float64{2}))
	if got := Decide(one, 0, Lower, Options{}); got.Verdict != Inconclusive || !math.IsInf(got.Time, 1) {
		t.Errorf("one fork: %+v, want inconclusive for ever", got)
	}
}

func TestGate(t *testing.T) {
	for _, test := range []struct {
		name      string
		e         Estimate
		adjusted  float64
		direction Direction
		floor     float64
		broken    bool
	}{
		{"far beyond", measured(1.12, 0.01), 0.01, Lower, 0, true},
		{"the interval reaches back", measured(1.06, 0.01), 0.01, Lower, 0, false},
		{"better", measured(0.8, 0.01), 0.01, Lower, 0, false},
		{"throughput fell", measured(1/1.12, 0.01), 0.01, Higher, 0, true},
		{"throughput grew", measured(1.12, 0.01), 0.01, Higher, 0, false},
		{"below the floor", measured(1.12, 0.01), 0.01, Lower, 0.1, false},
		{"not after Holm", measured(1.12, 0.01), 0.06, Lower, 0, false},
		{"no p", measured(1.12, 0.01), math.NaN(), Lower, 0, false},
		{"no direction", measured(1.12, 0.01), 0.01, Neutral, 0, false},
	} {
		if got := Gate(test.e, test.adjusted, test.direction, 0.05, Options{Floor: test.floor}); got != test.broken {
			t.Errorf("%s: broken is %v, want %v", test.name, got, test.broken)
		}
	}
}

func TestWord(t *testing.T) {
	for _, test := range []struct {
		verdict Verdict
		unit    string
		want    string
	}{
		{Faster, "ns/op", "faster"},
		{Slower, "cmds/s", "slower"},
		{Slower, "p99-latency-ns", "slower"},
		{Slower, "allocs/op", "worse"},
		{Faster, "client-cpu-ns/op", "better"},
		{More, "keys", "more"},
		{Less, "keys", "less"},
		{Same, "B/op", "same"},
		{Inconclusive, "B/op", "inconclusive"},
		{Verdict(99), "B/op", "Verdict(99)"},
	} {
		if got := test.verdict.Word(test.unit); got != test.want {
			t.Errorf("%d in %s: %q, want %q", test.verdict, test.unit, got, test.want)
		}
	}
}
