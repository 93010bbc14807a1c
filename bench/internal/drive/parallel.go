// Package drive runs the ops of a benchmark on exactly as many goroutines as
// the case names, whatever GOMAXPROCS is, and ends all of them at the first
// error.
//
// Parallel stays on testing.B's RunParallel, so that -benchtime, -count, -cpu
// and the profiles mean what a Go programmer expects. RunParallel starts
// parallelism x GOMAXPROCS goroutines; the surplus returns at once. A Crew is
// the same for turns: workers that stay and wait, and a fixed number of ops a
// turn.
//
// Note: a synchronised start of the workers was rejected for Parallel.
// RunParallel owns the timer, so a gate inside its body would be timed; and
// what a gate gives, no worker ahead of the others, connections that were
// opened and warmed before give too.
package drive

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
)

// Parallel runs b.N ops on exactly len(ops) goroutines; ops[i] is worker i's.
// At the first error the others stop after the op that they are in, b is
// marked as failed, and the error is returned when all have ended: it is the
// caller who ends the benchmark, with what it knows of the server.
func Parallel(b *testing.B, ops []Op, o Options) (Result, error) {
	procs := runtime.GOMAXPROCS(0)
	b.SetParallelism((len(ops) + procs - 1) / procs)

	t := newTeam(ops, o, b.Fail) // so that RunParallel does not complain of ops left over
	var started atomic.Int64
	end := t.watch()
	b.RunParallel(func(pb *testing.PB) {
		if id := int(started.Add(1)) - 1; id < len(ops) {
			t.work(id, pb.Next)
		}
	})
	end()

	if n := int(started.Load()); n < len(ops) {
		t.fail(fmt.Errorf("%d workers started, want %d", n, len(ops)))
	}
	if t.first != nil {
		return Result{}, t.first
	}
	return t.result(), nil
}
