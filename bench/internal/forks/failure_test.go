package forks_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rcbench/bench/internal/forks"
	"rcbench/internal/target"
)

// cancelAfter returns a context that is cancelled at the nth reading of the
// server's counters.
func cancelAfter(t *testing.T, r *rig, n int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	r.server.hook = func(reading int) error {
		if reading == n {
			cancel()
		}
		return nil
	}
	return ctx, cancel
}

// TestAnArmThatFailsIsNamedAndTheRestGoesOn: the arm "bad" has one fault in
// comparison B of the second of three forks. It is out of B from then on, its
// figures of B are not believed, and all the rest is measured.
func TestAnArmThatFailsIsNamedAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		what string
		turn int      // 0 is the open, 1 the first round
		dies bool     // the process is gone for the rest of the fork
		want []string // in the error
	}{
		{"crash", 0, true, []string{"process ended", "exit status 3", "bad: boom"}},
		{"crash", 1, true, []string{"process ended", "exit status 3", "bad: boom"}},
		{"quit", 1, true, []string{"process ended", "exit status 0"}},
		{"garbage", 0, true, []string{"open", "unreadable answer"}},
		{"garbage", 1, true, []string{"turn", "unreadable answer"}},
		{"empty", 0, true, []string{"open", "an answer to something else"}},
		{"empty", 1, true, []string{"turn", "an answer to something else"}},
		{"error", 0, false, []string{"dial 127.0.0.1:1: refused"}},
		{"error", 1, false, []string{"GET x: connection reset"}},
		{"skips a command", 1, false, []string{"calls of GET: the server counted 799, claimed 800 (-1)"}},
		{"connects", 1, false, []string{"connections: the server counted 1, claimed 0 (+1)"}},
		{"has an error reply", 1, false, []string{"error replies: the server counted 1, claimed 0 (+1)"}},
		{"has a failed call", 1, false, []string{"failed calls of GET: the server counted 1, claimed 0 (+1)"}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s at turn %d", tt.what, tt.turn), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, []string{"A", "B", "C"},
				script{Name: "good", PerOp: 10 * time.Microsecond},
				script{Name: "bad", PerOp: 10 * time.Microsecond, Faults: []fault{{Fork: 1, Case: "B", Turn: tt.turn, What: tt.what}}})
			r.Forks = 3
			result := r.run()

			if len(result.Failures) != 1 {
				t.Fatalf("failures %v, want one", result.Failures)
			}
			f := result.Failures[0]
			if f.Comparison != 1 || f.Entry != 1 || f.Fork != 1 || f.Arm != "bad" {
				t.Errorf("failure %+v, want of bad in comparison 1, fork 1", f)
			}
			for _, w := range append(tt.want, "bad, fork 2: ") {
				if !strings.Contains(f.Error(), w) {
					t.Errorf("failure %q, want it to contain %q", f, w)
				}
			}

			// What bad took part in: everything but B after the fault, and what
			// comes after B in a fork in which its process has gone.
			var want []string
			for _, name := range comparisons(r) {
				gone := false
				fork := len(want) // forks before
				var turns []string
				for _, c := range name {
					if c == 'B' && fork == 1 {
						gone = tt.dies
					}
					if !gone && !(c == 'B' && fork >= 1) {
						turns = append(turns, string(c))
					}
				}
				slices.Sort(turns)
				want = append(want, strings.Join(turns, ""))
			}
			if got := turnsOf(result, 1, 3); !slices.Equal(got, want) {
				t.Errorf("bad took turns in %q, want %q", got, want)
			}
			if got, want := turnsOf(result, 0, 3), []string{"ABC", "ABC", "ABC"}; !slices.Equal(got, want) {
				t.Errorf("good took turns in %q, want %q", got, want)
			}
			for _, e := range r.events("open") {
				if e.Case == "B/client=bad" && e.PID == lastPID(r, "bad") {
					t.Error("bad opened B again in the fork after")
				}
			}

			for _, s := range result.Sums() {
				if s.Comparison == 1 && s.Entry == 1 {
					t.Errorf("fork %d: bad has figures in B", s.Fork)
				}
			}
			if got, want := len(result.Sums()), len(result.Slices)-1; got != want { // B of fork 0
				t.Errorf("%d sums of %d slices, want %d", got, len(result.Slices), want)
			}
			for _, s := range result.Slices {
				if s.Server.Calls["get"] != 800 || s.Server.Connections != 0 {
					t.Errorf("slice %+v counts what the fault did", s)
				}
			}
		})
	}
}

// comparisons are the names of the comparisons of each fork, in order, from the
// turns of the arm that does not fail.
func comparisons(r *rig) (forks []string) {
	for _, e := range r.events("start", "open") {
		switch {
		case e.Arm != "good":
		case e.Do == "start":
			forks = append(forks, "")
		default:
			forks[len(forks)-1] += e.Case[:1]
		}
	}
	return forks
}

// turnsOf are the names of the comparisons, for each fork, in which an entry
// has its one turn.
func turnsOf(result *forks.Result, entry, n int) []string {
	turns := make([]string, n)
	for c := range 3 {
		for _, s := range result.Slices {
			if s.Entry == entry && s.Comparison == c {
				turns[s.Fork] += string(rune('A' + c))
			}
		}
	}
	return turns
}

func lastPID(r *rig, arm string) (pid int) {
	for _, e := range r.events("start") {
		if e.Arm == arm {
			pid = e.PID
		}
	}
	return pid
}

// TestFailureInTheCalibration: before there is any figure.
func TestFailureInTheCalibration(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A"},
		script{Name: "good", PerOp: 10 * time.Microsecond},
		script{Name: "bad", PerOp: 10 * time.Microsecond, Faults: []fault{{Case: "A", Turn: 2, What: "skips a command"}}})
	result := r.run()
	if len(result.Failures) != 1 || !strings.Contains(result.Failures[0].Error(), "the server counted 199, claimed 200") {
		t.Errorf("failures %v", result.Failures)
	}
	if len(result.Slices) != 1 || result.Slices[0].Entry != 0 {
		t.Errorf("slices %+v, want one of good", result.Slices)
	}
}

func TestAllArmsFail(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A"},
		script{Name: "x", PerOp: time.Millisecond, Faults: []fault{{Case: "A", Turn: 1, What: "crash"}}},
		script{Name: "y", PerOp: time.Millisecond, Faults: []fault{{Case: "A", Turn: 0, What: "error"}}})
	r.Budget = 30 * time.Second // nobody waits for it
	start := time.Now()
	result := r.run()
	if len(result.Failures) != 2 || len(result.Slices) != 0 || len(result.Sums()) != 0 {
		t.Errorf("failures %v, %d slices", result.Failures, len(result.Slices))
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestArmThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A"}, script{Name: "x", PerOp: time.Millisecond}, script{Name: "y", PerOp: time.Millisecond})
	r.Arms[1].Binary = filepath.Join(t.TempDir(), "nothing")
	r.Forks = 2
	result := r.run()
	if len(result.Failures) != 2 {
		t.Fatalf("failures %v, want one for each fork", result.Failures)
	}
	for fork, f := range result.Failures {
		if f.Comparison != -1 || f.Fork != fork || f.Arm != "y" || !strings.Contains(f.Error(), "starting arm y") {
			t.Errorf("failure %+v", f)
		}
	}
	if len(result.Sums()) != 2 {
		t.Errorf("sums %+v, want those of x in both forks", result.Sums())
	}
}

// TestArmThatIsNotReady is out of that fork, and has its turns in the others.
func TestArmThatIsNotReady(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"crash", "error", "garbage"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, []string{"A", "B"},
				script{Name: "good", PerOp: 10 * time.Microsecond},
				script{Name: "bad", PerOp: 10 * time.Microsecond, Faults: []fault{{Fork: 1, Turn: -1, What: what}}})
			r.Forks = 3
			result := r.run()
			if len(result.Failures) != 1 || result.Failures[0].Comparison != -1 || result.Failures[0].Arm != "bad" || result.Failures[0].Fork != 1 {
				t.Errorf("failures %+v, want one of bad in fork 1", result.Failures)
			}
			if got, want := turnsOf(result, 0, 3), []string{"AB", "AB", "AB"}; !slices.Equal(got, want) {
				t.Errorf("good took turns in %q, want %q", got, want)
			}
			if got, want := turnsOf(result, 1, 3), []string{"AB", "", "AB"}; !slices.Equal(got, want) {
				t.Errorf("bad took turns in %q, want %q", got, want)
			}
			if len(result.Sums()) != len(result.Slices) {
				t.Errorf("%d sums of %d slices", len(result.Sums()), len(result.Slices))
			}
		})
	}
}

// TestSkipIsNoFailure: it is said once, and the case is not tried again.
func TestSkipIsNoFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A", "B", "C"},
		script{Name: "good", PerOp: 10 * time.Microsecond},
		script{Name: "able", PerOp: 10 * time.Microsecond, Faults: []fault{{Fork: 0, Case: "B", What: "skip"}}})
	r.Forks = 2
	result := r.run()
	r.noFailures(result)
	want := []forks.Skip{{Case: "B/client=able", Why: "not supported by this server"}}
	if !slices.Equal(result.Skips, want) {
		t.Errorf("skips %v, want %v", result.Skips, want)
	}
	if got, want := turnsOf(result, 1, 2), []string{"AC", "AC"}; !slices.Equal(got, want) {
		t.Errorf("able took turns in %q, want %q", got, want)
	}
	if got, want := turnsOf(result, 0, 2), []string{"ABC", "ABC"}; !slices.Equal(got, want) {
		t.Errorf("good took turns in %q, want %q", got, want)
	}
	if len(result.Sums()) != len(result.Slices) {
		t.Errorf("%d sums of %d slices", len(result.Sums()), len(result.Slices))
	}
}

// TestServerThatDoesNotTell: nothing can be checked, and the result says so.
func TestServerThatDoesNotTell(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A"}, script{Name: "x", PerOp: 10 * time.Microsecond,
		Faults: []fault{{Case: "A", Turn: 4, What: "skips a command"}}})
	r.server.hook = func(int) error { return fmt.Errorf("%w: NOPERM", target.ErrNoCounters) }
	result := r.run()
	r.noFailures(result)
	if result.Verified {
		t.Error("verified, by a server that tells nothing")
	}
	if len(result.Slices) != 1 || result.Slices[0].Server.Calls != nil {
		t.Errorf("slices %+v, want one without counters", result.Slices)
	}
}

// TestServerThatFails ends the run: without the server there is nothing to
// measure.
func TestServerThatFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A", "B"}, script{Name: "x", PerOp: 10 * time.Microsecond})
	r.Forks = 2
	reset := errors.New("connection reset")
	r.server.hook = func(reading int) error {
		// A comparison has one reading after the open, three in the calibration
		// and one in its round.
		if reading >= 6 {
			return reset
		}
		return nil
	}
	result, err := forks.Run(t.Context(), r.Plan)
	if !errors.Is(err, reset) || !strings.Contains(err.Error(), "counters") {
		t.Errorf("error %v, want %v", err, reset)
	}
	if len(result.Slices) != 1 || result.Forks != 0 {
		t.Errorf("%d slices, %d forks; want what there was", len(result.Slices), result.Forks)
	}
}

// TestCancelReturnsWhatThereIs, at any time: in the calibration, in a round, in
// a later fork.
func TestCancelReturnsWhatThereIs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ reading, slices, forks int }{
		{1, 0, 0}, {3, 0, 0}, {7, 0, 0}, {8, 1, 0}, {10, 2, 1}, {11, 3, 1}, {12, 4, 2},
	} {
		t.Run(fmt.Sprintf("at reading %d", tt.reading), func(t *testing.T) {
			t.Parallel()
			// The first fork has nine readings, of which the last two are of its
			// round; a later one has one and two.
			r := newRig(t, []string{"A"}, script{Name: "x", PerOp: 10 * time.Microsecond}, script{Name: "y", PerOp: 10 * time.Microsecond})
			r.Forks = 5
			ctx, cancel := cancelAfter(t, r, tt.reading)
			defer cancel()
			result, err := forks.Run(ctx, r.Plan)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want %v", err, context.Canceled)
			}
			if len(result.Slices) != tt.slices || result.Forks != tt.forks {
				t.Errorf("%d slices, %d forks; want %d, %d", len(result.Slices), result.Forks, tt.slices, tt.forks)
			}
			r.noFailures(result)
			r.checkNoProcess()
			if result.Elapsed <= 0 {
				t.Errorf("elapsed %v", result.Elapsed)
			}
		})
	}
}

// TestCancelWhileAnArmHangs: the command does not wait for it.
func TestCancelWhileAnArmHangs(t *testing.T) {
	t.Parallel()
	for _, f := range []fault{{Case: "A", Turn: 0, What: "hang"}, {Case: "A", Turn: 4, What: "hang"}} {
		t.Run(fmt.Sprintf("at turn %d", f.Turn), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, []string{"A"}, script{Name: "x", PerOp: 10 * time.Microsecond, Faults: []fault{f}})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				for ctx.Err() == nil && len(r.events("hang")) == 0 {
					time.Sleep(5 * time.Millisecond)
				}
				cancel()
			}()
			start := time.Now()
			result, err := forks.Run(ctx, r.Plan)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want %v", err, context.Canceled)
			}
			r.noFailures(result)
			r.checkNoProcess()
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestCancelledBefore(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A"}, script{Name: "x", PerOp: time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result, err := forks.Run(ctx, r.Plan)
	if !errors.Is(err, context.Canceled) || len(result.Slices) != 0 || result.Forks != 0 {
		t.Errorf("error %v, %d slices, %d forks; want %v and nothing", err, len(result.Slices), result.Forks, context.Canceled)
	}
	if started := r.events("start"); len(started) > 0 {
		t.Errorf("started %v", started)
	}
}

// TestArmThatDoesNotEndIsEnded some seconds after its input has ended.
func TestArmThatDoesNotEndIsEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"A"}, script{Name: "x", PerOp: time.Millisecond, Deaf: true})
	result := r.run()
	r.noFailures(result)
	r.checkNoProcess()
	if len(result.Slices) != 1 {
		t.Errorf("%d slices, want 1", len(result.Slices))
	}
}
