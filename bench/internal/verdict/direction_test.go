package verdict

import (
	"strings"
	"testing"

	"rcbench/bench/internal/meter"
)

func TestBetter(t *testing.T) {
	for unit, want := range map[string]Direction{
		"ns/op": Lower, "sec/op": Lower, "B/op": Lower, "allocs/op": Lower,
		"server-cpu-ns/op": Lower, "errs/op": Lower, "errs/s": Lower, "idle-%": Lower,
		"p50-latency-ns": Lower, "p99.9-latency-ns": Lower, "p99-latency-sec": Lower,
		"cmds/s": Higher, "ops/s": Higher, "MB/s": Higher, "B/s": Higher,
		"goroutines": Neutral, "ns": Neutral, "": Neutral, "hit-%": Neutral,
	} {
		if got := Better(unit); got != want {
			t.Errorf("Better(%q) = %v, want %v", unit, got, want)
		}
	}
}

// What the meter tells benchstat and what is said here are the same.
func TestBetterAgreesWithTheMeter(t *testing.T) {
	for line := range strings.Lines(meter.Units) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "Unit" {
			t.Errorf("line %q", line)
			continue
		}
		if got := "better=" + Better(f[1]).String(); got != f[2] {
			t.Errorf("%s: the meter says %s, Better says %s", f[1], f[2], got)
		}
	}
}
