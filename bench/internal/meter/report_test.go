package meter_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"rcbench/bench/internal/meter"
	"rcbench/internal/target"
)

// scale is of 1000 ops of 10 commands in 2 seconds.
var scale = meter.Scale{Ops: 1000, Cmds: 10_000, Elapsed: 2 * time.Second, Idle: 0.25}

// reading is what those ops cost.
func reading() meter.Reading {
	return meter.Reading{Verified: true, ClientCPU: 3 * time.Millisecond, Server: target.Counters{
		CPU: 4 * time.Millisecond, Commands: 11_000, Connections: 1000, Errors: 500, InBytes: 7000, OutBytes: 8000, Reads: 9000,
	}}
}

// report is what a benchmark reports of r.
func report(r meter.Reading, all bool) map[string]float64 {
	return testing.Benchmark(func(b *testing.B) { r.Report(b, scale, all) }).Extra
}

func TestReport(t *testing.T) {
	few := map[string]float64{"cmds/s": 5000}
	client := map[string]float64{"cmds/s": 5000, "client-cpu-ns/op": 3000, "idle-%": 25}
	all := map[string]float64{"server-cpu-ns/op": 4000, "cmds/op": 11, "conns/op": 1, "errs/op": 0.5,
		"sent-B/op": 7, "recv-B/op": 8, "reads/op": 9}
	maps.Copy(all, client)
	old := maps.Clone(all)
	delete(old, "reads/op")

	refused := meter.Reading{ClientCPU: 3 * time.Millisecond}
	without := reading()
	without.Server.Reads = -1
	for _, tt := range []struct {
		name string
		r    meter.Reading
		all  bool
		want map[string]float64
	}{
		{"by default", reading(), false, few},
		{"not verified", refused, false, few},
		{"all", reading(), true, all},
		{"all, by a server that does not count reads", without, true, old},
		{"all, not verified", refused, true, client},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := report(tt.r, tt.all); !maps.Equal(got, tt.want) {
				t.Errorf("metrics %v, want %v", got, tt.want)
			}
		})
	}
}

// TestUnits: benchstat is told about every unit of a line, and about no other.
func TestUnits(t *testing.T) {
	emitted := map[string]bool{"ns/op": true, "B/op": true, "allocs/op": true} // by package testing
	for unit := range report(reading(), true) {
		emitted[unit] = true
	}
	declared := map[string]bool{}
	for line := range strings.Lines(meter.Units) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] != "Unit" || declared[fields[1]] {
			t.Errorf("%q is not \"Unit name better=...\", or is there twice", line)
			continue
		}
		declared[fields[1]] = true
		want := "better=lower"
		if fields[1] == "cmds/s" {
			want = "better=higher"
		}
		if fields[2] != want {
			t.Errorf("%s has %s, want %s", fields[1], fields[2], want)
		}
	}
	if !maps.Equal(declared, emitted) {
		t.Errorf("declared %v, emitted %v", slices.Sorted(maps.Keys(declared)), slices.Sorted(maps.Keys(emitted)))
	}
}

func TestBenchstatReadsTheUnits(t *testing.T) {
	r := benchfmt.NewReader(strings.NewReader(meter.Units), "units")
	n := 0
	for r.Scan() {
		if _, ok := r.Result().(*benchfmt.UnitMetadata); !ok {
			t.Errorf("%v", r.Result())
		}
		n++
	}
	if want := strings.Count(meter.Units, "\n"); n != want {
		t.Errorf("%d unit lines read, want %d", n, want)
	}
	for unit, want := range map[string]int{"cmds/s": 1, "ns/op": -1, "idle-%": -1, "client-cpu-ns/op": -1} {
		if got := r.Units().GetBetter(unit); got != want {
			t.Errorf("%s: better %d, want %d", unit, got, want)
		}
	}
}
