package forks_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"rcbench/bench/internal/forks"
)

// A place is where a slice belongs.
type place struct{ fork, comparison, round int }

// TestEveryArmTakesATurnInEveryRound, and one arm at a time: the rest waits
// with its connections open.
func TestEveryArmTakesATurnInEveryRound(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A", "B"},
		script{Name: "x", PerOp: 10 * time.Microsecond},
		script{Name: "y", PerOp: 20 * time.Microsecond, Conns: 1},
		script{Name: "z", PerOp: 30 * time.Microsecond, Workers: 10, Errors: 2})
	r.Forks, r.Budget = 2, 200*time.Millisecond
	result := r.run()
	r.noFailures(result)

	turns := map[place][]int{}
	last := map[place]int{} // of a comparison, round 0: its last round
	for _, s := range result.Slices {
		p := place{s.Fork, s.Comparison, s.Round}
		turns[p] = append(turns[p], s.Entry)
		slot := place{s.Fork, s.Comparison, 0}
		last[slot] = max(last[slot], s.Round)
	}
	if len(last) != 4 {
		t.Errorf("turns in %d comparisons, want 2 in each of 2 forks", len(last))
	}
	for slot, rounds := range last {
		for round := range rounds + 1 {
			entries := slices.Sorted(slices.Values(turns[place{slot.fork, slot.comparison, round}]))
			if !slices.Equal(entries, []int{0, 1, 2}) {
				t.Errorf("fork %d, comparison %d, round %d: turns of %v, want one of each", slot.fork, slot.comparison, round, entries)
			}
		}
	}

	// In the journal each comparison is: all open, all turns, all close.
	phase := ""
	for _, e := range r.events("open", "turn", "close") {
		name, _, _ := strings.Cut(e.Case, "/")
		phase += e.Do[:1] + name + " "
	}
	squeezed := strings.Join(slices.Compact(strings.Fields(phase)), " ")
	for range 2 { // forks
		first := squeezed[1:2]
		second := map[string]string{"A": "B", "B": "A"}[first]
		for _, name := range []string{first, second} {
			want := fmt.Sprintf("o%s t%[1]s c%[1]s", name)
			var ok bool
			if squeezed, ok = strings.CutPrefix(squeezed, want); !ok {
				t.Fatalf("the arms did %q, want %q", squeezed, want)
			}
			squeezed = strings.TrimPrefix(squeezed, " ")
		}
	}
	if squeezed != "" {
		t.Errorf("after both forks the arms did %q", squeezed)
	}
}

// TestSliceIsTheTurnAsItWas: what the arm claims, what the server counted, and
// nothing of the calibration or of the other arms.
func TestSliceIsTheTurnAsItWas(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A"}, script{Name: "x", PerOp: 10 * time.Microsecond, Conns: 1, Errors: 2, Workers: 5},
		script{Name: "y", PerOp: 100 * time.Microsecond})
	result := r.run()
	r.noFailures(result)
	if len(result.Slices) != 2 || !result.Verified {
		t.Fatalf("%d slices, verified %v; want 2 that are", len(result.Slices), result.Verified)
	}
	s := result.Slices[0]
	if s.Entry != 0 {
		s = result.Slices[1]
	}
	if s.Ops != 400 || s.Elapsed != 4*time.Millisecond || s.CPU != 400*time.Microsecond || s.Bytes != 40_000 || s.Mallocs != 1200 || s.Idle != 0.25 {
		t.Errorf("slice of %d ops: %+v", s.Ops, s.Outcome)
	}
	if s.Claim.Workers != 5 || !maps.Equal(s.Claim.Commands, map[string]int64{"get": 2}) || s.Claim.Conns != 1 || s.Claim.Errors != 2 {
		t.Errorf("claim %+v", s.Claim)
	}
	if c := s.Server; !maps.Equal(c.Calls, map[string]int64{"get": 800}) || c.Commands != 800 || c.Connections != 400 || c.Errors != 800 || c.CPU != 400*time.Microsecond {
		t.Errorf("server %+v", c)
	}
	if want := result.Slices[0].Elapsed + result.Slices[1].Elapsed; result.Measured != want {
		t.Errorf("measured %v, want %v", result.Measured, want)
	}
}

// sequence is a run of three forks: who opened and who took a turn, in the
// order of time, and the comparisons of each fork.
func sequence(t *testing.T, seed uint64) (all, comparisons []string) {
	arms := []script{{Name: "x", PerOp: time.Millisecond}, {Name: "y", PerOp: time.Millisecond}, {Name: "z", PerOp: time.Millisecond}}
	r := newRig(t, []string{"A", "B", "C"}, arms...)
	r.Forks, r.Seed = 3, seed
	r.noFailures(r.run())
	for _, e := range r.events("open", "turn") {
		all = append(all, e.Do+" "+e.Case)
	}
	for fork := range slices.Chunk(r.events("open"), len(r.Comparisons)*len(arms)) {
		order := ""
		for i := 0; i < len(fork); i += len(arms) {
			order += fork[i].Case[:1]
		}
		comparisons = append(comparisons, order)
	}
	return all, comparisons
}

// TestPreparingATurnIsNotPartOfIt, though the server counts it.
func TestPreparingATurnIsNotPartOfIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A"}, script{Name: "x", PerOp: 10 * time.Microsecond, Prepares: 7}, script{Name: "y", PerOp: 10 * time.Microsecond})
	result := r.run()
	r.noFailures(result)
	for _, s := range result.Slices {
		if s.Server.Commands != 2*s.Ops {
			t.Errorf("turn of entry %d: %d commands for %d ops, want 2 an op", s.Entry, s.Server.Commands, s.Ops)
		}
	}
	last := ""
	for _, e := range r.events("prepare", "turn") {
		this := fmt.Sprint(e.Ops, " of ", e.Case)
		switch {
		case e.Do == "prepare":
			last = this
		case e.Arm == "x" && this != last:
			t.Errorf("turn %s after preparing %s", this, last)
		case e.Arm == "x":
			last = ""
		}
	}
}

func TestOrdersAreDrawnFromTheSeed(t *testing.T) {
	t.Parallel()
	first, comparisons := sequence(t, 1)
	if again, _ := sequence(t, 1); !slices.Equal(first, again) {
		t.Errorf("the same seed gave\n%v\nand\n%v", first, again)
	}
	if other, _ := sequence(t, 2); slices.Equal(first, other) {
		t.Errorf("another seed gave the same order\n%v", first)
	}
	if len(comparisons) != 3 || len(slices.Compact(slices.Sorted(slices.Values(comparisons)))) < 2 {
		t.Errorf("comparisons in the orders %v, want those of three forks, not all the same", comparisons)
	}
}

// TestNoArmIsAlwaysTheFirstToOpen, since what is opened last is faster at first.
func TestNoArmIsAlwaysTheFirstToOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A"}, script{Name: "x", PerOp: time.Millisecond}, script{Name: "y", PerOp: time.Millisecond})
	r.Forks, r.Seed = forks.EnoughForks, 1
	r.noFailures(r.run())
	first := map[string]int{}
	for fork := range slices.Chunk(r.events("open"), 2) {
		first[fork[0].Arm]++
	}
	if first["x"]+first["y"] != r.Forks || min(first["x"], first["y"]) < 2 {
		t.Errorf("the first to open: %v, want each of the two several times in %d forks", first, r.Forks)
	}
}

// TestRoundsAreShuffled: every order of the arms comes up about as often.
func TestRoundsAreShuffled(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A"}, script{Name: "x", PerOp: time.Millisecond},
		script{Name: "y", PerOp: time.Millisecond}, script{Name: "z", PerOp: time.Millisecond})
	// As many rounds as the test needs: the budget ends when there were enough.
	const rounds = 120
	r.Budget = 30 * time.Second
	ctx, cancel := cancelAfter(t, r, 3*rounds+20)
	defer cancel()
	result, _ := forks.Run(ctx, r.Plan)
	r.noFailures(result)
	orders := map[string]int{}
	for round := range slices.Chunk(result.Slices, 3) {
		if len(round) < 3 {
			break // where the run was ended
		}
		order := ""
		for _, s := range round {
			order += r.Arms[s.Entry].Name
		}
		orders[order]++
	}
	if len(orders) != 6 {
		t.Errorf("orders %v, want all six", orders)
	}
	for order, n := range orders {
		if n < rounds/6/3 || n > rounds/6*3 {
			t.Errorf("order %s %d times in %d rounds", order, n, rounds)
		}
	}
}

// TestOpsOfATurn: found once for each comparison, never fewer than ten commands
// for each worker, which are five ops of these arms, the same for all arms, and
// then for the life of the run, whatever the machine does.
func TestOpsOfATurn(t *testing.T) {
	t.Parallel()
	fast := script{Name: "fast", PerOp: 10 * time.Nanosecond}
	usual := script{Name: "usual", PerOp: 10 * time.Microsecond}
	slower := script{Name: "slower", PerOp: 20 * time.Microsecond}
	crowd := script{Name: "crowd", PerOp: 10 * time.Microsecond, Workers: 100}
	slow := script{Name: "slow", PerOp: time.Millisecond, Workers: 16}
	glacial := script{Name: "glacial", PerOp: time.Hour}
	drifts := script{Name: "drifts", PerOp: 10 * time.Microsecond, Drift: true}
	for _, tt := range []struct {
		arms []script
		want int64 // ops of a turn
		// turns that each arm takes, in two forks; the calibration is in the first
		turns map[string][]int64
	}{
		{[]script{fast}, 400_000, map[string][]int64{"fast": {5, 100, 2000, 40_000, 400_000, 400_000, 400_000}}},
		{[]script{usual}, 400, map[string][]int64{"usual": {5, 100, 400, 400, 400}}},
		{[]script{crowd}, 500, map[string][]int64{"crowd": {500, 500, 500}}},
		{[]script{slow}, 80, map[string][]int64{"slow": {80, 80, 80}}},
		{[]script{glacial}, 5, map[string][]int64{"glacial": {5, 5, 5}}},
		{[]script{drifts}, 400, map[string][]int64{"drifts": {5, 100, 400, 400, 400}}},
		// The one that needs more decides, and the other takes a longer turn.
		{[]script{slower, usual}, 400, map[string][]int64{"slower": {5, 100, 200, 400, 400}, "usual": {5, 100, 400, 400, 400}}},
		// But not more than 50 times as long.
		{[]script{usual, fast}, 20_000, map[string][]int64{"usual": {5, 100, 400, 20_000, 20_000}}},
		{[]script{slow, usual}, 200, map[string][]int64{"slow": {80, 200, 200}}},
		{[]script{usual, glacial}, 5, map[string][]int64{"glacial": {5, 5, 5}}},
	} {
		r := newRig(t, []string{"A"}, tt.arms...)
		r.Forks = 2
		result := r.run()
		r.noFailures(result)
		if len(result.Slices) != 2*len(tt.arms) {
			t.Errorf("%d slices, want one of each of %d arms in 2 forks", len(result.Slices), len(tt.arms))
		}
		for _, s := range result.Slices {
			if s.Ops != tt.want {
				t.Errorf("%s of %d arms, fork %d: turns of %d ops, want %d", tt.arms[s.Entry].Name, len(tt.arms), s.Fork, s.Ops, tt.want)
			}
		}
		ops := map[string][]int64{}
		for _, e := range r.events("turn") {
			ops[e.Case] = append(ops[e.Case], e.Ops)
		}
		for name, want := range tt.turns {
			if got := ops["A/client="+name]; !slices.Equal(got, want) {
				t.Errorf("%s of %d arms: turns of %v ops, want %v", name, len(tt.arms), got, want)
			}
		}
	}
}

func TestLengthOfATurnIsThePlans(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A"}, script{Name: "x", PerOp: 10 * time.Microsecond})
	r.Turn = 20 * time.Millisecond
	result := r.run()
	r.noFailures(result)
	for _, s := range result.Slices {
		if s.Ops != 2000 {
			t.Errorf("a turn of %d ops of 10 us, want 20 ms", s.Ops)
		}
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A", "B"}, script{Name: "x", PerOp: time.Millisecond}, script{Name: "y", PerOp: time.Millisecond})
	r.Forks, r.Budget = 2, 2*time.Second
	start := time.Now()
	result := r.run()
	r.noFailures(result)
	took := time.Since(start)
	if result.Elapsed < r.Budget || result.Elapsed > took || took > 10*r.Budget {
		t.Errorf("a budget of %v took %v, of which the result says %v", r.Budget, took, result.Elapsed)
	}
	// Each comparison has its share: not all of it goes to the first.
	rounds := map[place]int{}
	for _, s := range result.Slices {
		rounds[place{s.Fork, s.Comparison, 0}]++
	}
	for p, n := range rounds {
		if n < 2*2 {
			t.Errorf("fork %d, comparison %d: %d turns", p.fork, p.comparison, n)
		}
	}
	if len(rounds) != 4 {
		t.Errorf("turns in %d comparisons, want 4", len(rounds))
	}
}

// TestBudgetEndsARunThatHasEnoughForks: the turns of a plan may turn out longer
// than its budget.
func TestBudgetEndsARunThatHasEnoughForks(t *testing.T) {
	t.Parallel()
	for planned, want := range map[int]int{3: 3, forks.EnoughForks: forks.EnoughForks, 50: forks.EnoughForks} {
		r := newRig(t, []string{"A"}, script{Name: "x", PerOp: 10 * time.Microsecond})
		r.Forks, r.Budget = planned, time.Millisecond
		result, err := forks.Run(t.Context(), r.Plan)
		if err != nil {
			t.Fatal(err)
		}
		r.noFailures(result)
		if result.Forks != want {
			t.Errorf("%d forks planned, %d done, want %d", planned, result.Forks, want)
		}
	}
}

// TestStretch: the turns are as much longer as they should be, on the clock
// too, where the other arm rests as long.
func TestStretch(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A"}, script{Name: "x", PerOp: 100 * time.Microsecond}, script{Name: "y", PerOp: 100 * time.Microsecond})
	r.Turn, r.Forks = 15*time.Millisecond, 2
	r.Arms[1].Stretch = 10
	result := r.run()
	r.noFailures(result)
	if len(result.Slices) != 4 {
		t.Errorf("%d slices, want 4", len(result.Slices))
	}
	for _, s := range result.Slices {
		perOp := 100 * time.Microsecond
		if s.Entry == 1 {
			perOp = 1100 * time.Microsecond
		}
		if s.Ops != 150 || s.Elapsed != 150*perOp {
			t.Errorf("entry %d: %d ops in %v, want 150 of %v", s.Entry, s.Ops, s.Elapsed, perOp)
		}
	}
	var waited time.Duration
	for _, e := range r.events("turn") {
		waited += time.Duration(e.Ops) * time.Millisecond
	}
	if result.Elapsed < waited {
		t.Errorf("the run took %v, and should have waited %v", result.Elapsed, waited)
	}
}

// TestAFreshProcessForEachFork, in a process group that Ctrl-C does not reach.
func TestAFreshProcessForEachFork(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A", "B"}, script{Name: "x", PerOp: time.Millisecond}, script{Name: "y", PerOp: time.Millisecond})
	r.Forks = 3
	r.noFailures(r.run())
	pids := map[string][]int{}
	for _, e := range r.events("start") {
		pids[e.Arm] = append(pids[e.Arm], e.PID)
		if e.Group != e.PID {
			t.Errorf("arm %s: process %d is in group %d, want its own", e.Arm, e.PID, e.Group)
		}
	}
	for _, name := range []string{"x", "y"} {
		if n := len(slices.Compact(slices.Sorted(slices.Values(pids[name])))); n != 3 {
			t.Errorf("arm %s: processes %v, want one for each fork", name, pids[name])
		}
	}
}

// TestArmsThatDifferInTheirCases is a diff: one name for two builds, and
// comparisons in which not all take part.
func TestArmsThatDifferInTheirCases(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, script{Name: "x", PerOp: time.Millisecond}, script{Name: "y", PerOp: time.Millisecond}, script{Name: "z", PerOp: time.Millisecond})
	r.Comparisons = []forks.Comparison{
		{Name: "A", Entries: []forks.Entry{{Arm: 2, Case: "A/same"}, {Arm: 0, Case: "A/same"}}},
		{Name: "B", Entries: []forks.Entry{{Arm: 1, Case: "B"}}},
	}
	result := r.run()
	r.noFailures(result)
	var got []string
	for _, s := range result.Slices {
		got = append(got, fmt.Sprint(s.Comparison, s.Entry))
	}
	slices.Sort(got)
	if want := []string{"0 0", "0 1", "1 0"}; !slices.Equal(got, want) {
		t.Errorf("slices of %v, want %v", got, want)
	}
	opened := map[string]bool{}
	for _, e := range r.events("open") {
		opened[e.Arm+" "+e.Case] = true
	}
	if want := map[string]bool{"z A/same": true, "x A/same": true, "y B": true}; !maps.Equal(opened, want) {
		t.Errorf("opened %v, want %v", opened, want)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A", "B"}, script{Name: "x", PerOp: time.Millisecond})
	r.Forks, r.Budget = 2, 20*time.Millisecond
	seen := map[string]int{}
	var last time.Duration
	r.Progress = func(p forks.Progress) {
		seen[fmt.Sprintf("%s, fork %d of %d", p.Comparison, p.Fork, p.Forks)]++
		if p.Elapsed < last || p.Budget != r.Budget {
			t.Errorf("progress %+v after %v", p, last)
		}
		last = p.Elapsed
	}
	r.run()
	for _, want := range []string{"A, fork 1 of 2", "B, fork 1 of 2", "A, fork 2 of 2", "B, fork 2 of 2"} {
		if seen[want] == 0 {
			t.Errorf("progress %v, want %q among it", seen, want)
		}
	}
	if len(seen) != 4 {
		t.Errorf("progress %v, want four places", seen)
	}
}
