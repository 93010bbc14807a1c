package forks_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rcbench/bench/internal/forks"
	"rcbench/bench/internal/meter"
	"rcbench/bench/internal/turns"
	"rcbench/internal/target"
)

// slice makes a turn of ops that took a millisecond each.
func slice(comparison, fork, entry, round int, ops int64) forks.Slice {
	return forks.Slice{
		Comparison: comparison, Fork: fork, Entry: entry, Round: round, Ops: ops,
		Outcome: turns.Outcome{Elapsed: time.Duration(ops) * time.Millisecond},
		Claim:   turns.Opened{Workers: 1, Claim: turns.Claim{Commands: map[string]int64{"get": 3, "set": 2}}},
	}
}

func TestSums(t *testing.T) {
	r := &forks.Result{
		Slices: []forks.Slice{ // in the order of time, which is not that of the sums
			slice(1, 0, 1, 0, 10), slice(1, 0, 0, 0, 20), slice(1, 0, 0, 1, 20), slice(1, 0, 1, 1, 10),
			slice(0, 0, 2, 0, 30), slice(0, 0, 0, 0, 40), slice(0, 0, 1, 0, 5),
			slice(0, 1, 0, 0, 40), slice(0, 1, 2, 0, 30), slice(0, 1, 2, 1, 30),
			slice(1, 1, 0, 0, 20),
		},
		Failures: []forks.Failure{
			{Comparison: 0, Entry: 1, Fork: 0, Err: errors.New("lost")},   // takes slice(0, 0, 1) with it
			{Comparison: 1, Entry: 1, Fork: 1, Err: errors.New("lost")},   // takes those of fork 0 too
			{Comparison: -1, Entry: 0, Fork: 1, Err: errors.New("start")}, // takes none
		},
	}
	want := []string{ // comparison, fork, entry: ops, cmds, elapsed, rounds
		"0 0 0: 40 200 40ms [0]",
		"0 0 2: 30 150 30ms [0]",
		"0 1 0: 40 200 40ms [0]",
		"0 1 2: 60 300 60ms [0 1]",
		"1 0 0: 40 200 40ms [0 1]",
		"1 1 0: 20 100 20ms [0]",
	}
	var got []string
	for _, s := range r.Sums() {
		var rounds []int
		for _, turn := range s.Turns {
			rounds = append(rounds, turn.Round)
			if turn.Comparison != s.Comparison || turn.Fork != s.Fork || turn.Entry != s.Entry {
				t.Errorf("a turn of %d %d %d is in the sum of %d %d %d",
					turn.Comparison, turn.Fork, turn.Entry, s.Comparison, s.Fork, s.Entry)
			}
		}
		got = append(got, fmt.Sprintf("%d %d %d: %d %d %v %v", s.Comparison, s.Fork, s.Entry, s.Ops, s.Cmds, s.Elapsed, rounds))
	}
	if !slices.Equal(got, want) {
		t.Errorf("sums\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if sums := (&forks.Result{}).Sums(); len(sums) != 0 {
		t.Errorf("sums of nothing: %+v", sums)
	}
}

func TestMetrics(t *testing.T) {
	first, second := slice(0, 0, 0, 0, 10), slice(0, 0, 0, 1, 10)
	first.Outcome = turns.Outcome{Elapsed: time.Millisecond, CPU: 2 * time.Millisecond, Bytes: 100, Mallocs: 30}
	second.Outcome = turns.Outcome{Elapsed: 3 * time.Millisecond, CPU: 4 * time.Millisecond, Bytes: 300, Mallocs: 10}
	client := []forks.Metric{
		{Value: 200_000, Unit: "ns/op"},
		{Value: 25_000, Unit: "cmds/s"}, // 100 in 4 ms
		{Value: 20, Unit: "B/op"},
		{Value: 2, Unit: "allocs/op"},
		{Value: 300_000, Unit: "client-cpu-ns/op"},
	}
	metrics := func(verified bool, s ...forks.Slice) []forks.Metric {
		return (&forks.Result{Slices: s, Verified: verified}).Sums()[0].Metrics()
	}
	if got := metrics(false, first, second); !slices.Equal(got, client) {
		t.Errorf("without counters: %v, want %v", got, client)
	}

	first.Server = target.Counters{CPU: time.Millisecond, Commands: 60, Connections: 10, Errors: 4}
	second.Server = target.Counters{CPU: 2 * time.Millisecond, Commands: 50, Connections: 10, Errors: 6}
	all := append(slices.Clone(client),
		forks.Metric{Value: 150_000, Unit: "server-cpu-ns/op"},
		forks.Metric{Value: 5.5, Unit: "cmds/op"},
		forks.Metric{Value: 1, Unit: "conns/op"},
		forks.Metric{Value: 0.5, Unit: "errs/op"})
	got := metrics(true, first, second)
	if !slices.Equal(got, all) {
		t.Errorf("with counters: %v, want %v", got, all)
	}
	second.Server.Errors = -1 // Redis before 6.2
	if got := metrics(true, first, second); !slices.Equal(got, all[:len(all)-1]) {
		t.Errorf("without a count of errors: %v, want %v", got, all[:len(all)-1])
	}
	for _, m := range got {
		if !strings.Contains(meter.Units, "Unit "+m.Unit+" better=") {
			t.Errorf("%s is not among the units that benchstat is told about", m.Unit)
		}
	}
}

func TestFailureSaysWho(t *testing.T) {
	f := forks.Failure{Comparison: 3, Entry: 1, Arm: "goredis", Fork: 0, Err: errors.New("connection reset")}
	if got, want := f.Error(), "goredis, fork 1: connection reset"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSumOfWhatTheTurnsThemselvesKnow: a workload whose turns claim what they
// did is counted by that, and its own figures are the mean of the turns.
func TestSumOfWhatTheTurnsThemselvesKnow(t *testing.T) {
	a, b := slice(0, 0, 0, 0, 1), slice(0, 0, 0, 1, 1)
	a.Outcome.Claim = &turns.Claim{Commands: map[string]int64{"incr": 90}}
	b.Outcome.Claim = &turns.Claim{Commands: map[string]int64{"incr": 100}}
	a.Metrics = []turns.Metric{{Value: 10, Unit: "failed/op"}, {Value: 1, Unit: "acknowledged/op"}}
	b.Metrics = []turns.Metric{{Value: 0, Unit: "failed/op"}, {Value: 2, Unit: "acknowledged/op"}}
	sums := (&forks.Result{Slices: []forks.Slice{a, b}}).Sums()
	if len(sums) != 1 || sums[0].Cmds != 190 {
		t.Fatalf("sums %+v, want one with 190 commands", sums)
	}
	got := map[string]float64{}
	for _, m := range sums[0].Metrics() {
		got[m.Unit] = m.Value
	}
	if got["failed/op"] != 5 || got["acknowledged/op"] != 1.5 {
		t.Errorf("metrics %v, want 5 failed/op and 1.5 acknowledged/op", got)
	}
}
