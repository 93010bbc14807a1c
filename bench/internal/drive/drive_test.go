package drive_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rcbench/bench/internal/drive"
)

// benchmark runs f with b.N = n, as -benchtime=<n>x does.
func benchmark(t *testing.T, n int, f func(b *testing.B)) testing.BenchmarkResult {
	t.Helper()
	benchtime := flag.Lookup("test.benchtime").Value
	old := benchtime.String()
	if err := benchtime.Set(fmt.Sprintf("%dx", n)); err != nil {
		t.Fatal(err)
	}
	defer benchtime.Set(old)
	return testing.Benchmark(f)
}

// meeting returns ops that each wait, the first time, until all of them are
// in flight: they only return if exactly that many run at once.
func meeting(workers int) (ops []drive.Op, calls []atomic.Int64) {
	calls = make([]atomic.Int64, workers)
	var all sync.WaitGroup
	all.Add(workers)
	for id := range workers {
		ops = append(ops, func() error {
			if calls[id].Add(1) == 1 {
				all.Done()
				all.Wait()
			}
			return nil
		})
	}
	return ops, calls
}

func TestParallelHasExactlyTheWorkersAsked(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 3, 7} {
		for _, workers := range []int{1, 2, 10, 100, 1000} {
			t.Run(fmt.Sprintf("procs=%d/workers=%d", procs, workers), func(t *testing.T) {
				runtime.GOMAXPROCS(procs)
				n := 10 * workers
				var result drive.Result
				var err error
				var total int64
				benchmark(t, n, func(b *testing.B) {
					if b.N < workers {
						// Too few ops to meet. RunParallel sizes its batches by
						// how long this call took: long, so that it hands out
						// the ops of the next one singly.
						time.Sleep(time.Millisecond)
						return
					}
					ops, calls := meeting(workers)
					result, err = drive.Parallel(b, ops, drive.Options{})
					total = 0
					for i := range calls {
						total += calls[i].Load()
					}
				})
				if err != nil || result.Workers != workers || total != int64(n) {
					t.Errorf("%d workers, %d ops, error %v; want %d workers, %d ops", result.Workers, total, err, workers, n)
				}
			})
		}
	}
}

func TestParallelStopsAtTheFirstError(t *testing.T) {
	broken := errors.New("broken reply")
	var after atomic.Int64
	var err error
	benchmark(t, 1_000_000, func(b *testing.B) {
		var failed atomic.Bool
		ops := make([]drive.Op, 50)
		for id := range ops {
			n := 0
			ops[id] = func() error {
				if failed.Load() {
					after.Add(1)
				}
				if n++; id == 7 && n == 3 {
					failed.Store(true)
					return broken
				}
				runtime.Gosched()
				return nil
			}
		}
		_, err = drive.Parallel(b, ops, drive.Options{})
		if err != nil && !b.Failed() {
			t.Error("b is not marked as failed")
		}
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if n := after.Load(); n > 100_000 {
		t.Errorf("%d ops began after the error, want the others to stop", n)
	}
}

func TestStallEndsTheRun(t *testing.T) {
	hang := make(chan struct{})
	op := func() error {
		<-hang
		return errors.New("closed")
	}
	o := drive.Options{StallLimit: 80 * time.Millisecond, Abort: func() { close(hang) }}
	var err error
	benchmark(t, 1, func(b *testing.B) { _, err = drive.Parallel(b, []drive.Op{op}, o) })
	if !errors.Is(err, drive.ErrStalled) || !strings.Contains(err.Error(), "80ms") {
		t.Errorf("Parallel: error %v, want one that says stalled for 80ms", err)
	}

	hang = make(chan struct{})
	crew := drive.NewCrew([]drive.Op{op}, o)
	defer crew.Stop()
	if _, err := crew.Turn(1); !errors.Is(err, drive.ErrStalled) {
		t.Errorf("Turn: error %v, want %v", err, drive.ErrStalled)
	}
	if _, err := crew.Turn(1); !errors.Is(err, drive.ErrStalled) {
		t.Errorf("Turn after a failed one: error %v, want %v", err, drive.ErrStalled)
	}
}

func TestCrewDoesExactlyTheOpsOfEachTurn(t *testing.T) {
	const workers = 100
	ops, calls := meeting(workers)
	crew := drive.NewCrew(ops, drive.Options{})
	defer crew.Stop()
	want := int64(0)
	for _, n := range []int64{workers, 1, 5000, 0, 77} {
		result, err := crew.Turn(n)
		if err != nil || result.Workers != workers {
			t.Fatalf("Turn(%d): %d workers, error %v", n, result.Workers, err)
		}
		want += n
		total := int64(0)
		for i := range calls {
			total += calls[i].Load()
		}
		if total != want {
			t.Fatalf("after Turn(%d): %d ops in all, want %d", n, total, want)
		}
	}
	crew.Stop()
	if _, err := crew.Turn(1); err == nil {
		t.Error("Turn after Stop: no error")
	}
}

func TestIdleTailIsTheShareOfWaiting(t *testing.T) {
	// Both workers take one op each, because each op waits for the other to
	// have begun; then one returns at once and the other 50 ms later.
	var began sync.WaitGroup
	began.Add(2)
	op := func(after time.Duration) drive.Op {
		return func() error {
			began.Done()
			began.Wait()
			time.Sleep(after)
			return nil
		}
	}
	crew := drive.NewCrew([]drive.Op{op(0), op(50 * time.Millisecond)}, drive.Options{})
	defer crew.Stop()
	result, err := crew.Turn(2)
	if err != nil {
		t.Fatal(err)
	}
	if result.IdleTail <= 0 || result.IdleTail > 0.5 {
		t.Errorf("idle tail %.3f, want above 0 and at most the half that one of two workers can wait", result.IdleTail)
	}
}

func TestCrewAllocatesNothingInATurn(t *testing.T) {
	ops := make([]drive.Op, 100)
	for id := range ops {
		ops[id] = func() error { return nil }
	}
	crew := drive.NewCrew(ops, drive.Options{})
	defer crew.Stop()
	if _, err := crew.Turn(1000); err != nil { // grows what grows once
		t.Fatal(err)
	}
	least := uint64(1 << 62)
	for range 20 { // other goroutines of the test binary allocate too
		crew.Ready()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := crew.Turn(1000); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	if least != 0 {
		t.Errorf("%d allocations in a turn, want none", least)
	}
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}
