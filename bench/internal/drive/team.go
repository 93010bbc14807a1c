package drive

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// StallLimit is how long a run may go on without any op finishing. It is
// longer than any timeout that a client has by default, so that the client's
// own error comes first where it has one.
const StallLimit = 20 * time.Second

// ErrStalled is wrapped by the error of a run that StallLimit ended.
var ErrStalled = errors.New("stalled")

// An Op is one op of one worker. It is called by that worker only.
type Op func() error

// Options of Parallel and NewCrew.
type Options struct {
	// Abort is called once, from another goroutine, when the run stalls. It
	// makes the ops that hang return, usually by closing their connections.
	// Without it a stall only ends when the ops return by themselves.
	Abort func()

	// StallLimit is used in place of the constant if it is not 0.
	StallLimit time.Duration
}

// A Result says how a run went.
type Result struct {
	Workers int           // that took part, always as many as ops were given
	Elapsed time.Duration // first start to last end
	// IdleTail is the share of Workers x Elapsed, 0 to 1, in which workers
	// that had no more ops waited for those that still had. RunParallel
	// hands out ops in batches of about 100 us, so a short run with many
	// workers has a long tail; -benchtime=Nx hands them out singly.
	IdleTail float64
}

// A team is the state that the workers of one run share.
type team struct {
	ops   []Op
	lanes []lane
	o     Options

	idle   atomic.Bool // between turns nothing is due
	stop   atomic.Bool
	once   sync.Once
	first  error  // the first error; valid when stop is set and all have ended
	onFail func() // called with the first error
}

// lane is what one worker writes; padded, so that workers do not share a cache
// line.
type lane struct {
	done  atomic.Int64 // ops, over the worker's life
	start time.Time
	end   time.Time
	_     [64]byte
}

func newTeam(ops []Op, o Options, onFail func()) *team {
	if o.StallLimit == 0 {
		o.StallLimit = StallLimit
	}
	return &team{ops: ops, lanes: make([]lane, len(ops)), o: o, onFail: onFail}
}

// fail keeps the first error and stops every worker after the op that it is
// in.
func (t *team) fail(err error) {
	t.once.Do(func() {
		t.first = err
		t.stop.Store(true) // publishes first
		t.onFail()
	})
}

// work runs the ops of worker id while next says that there is one more.
func (t *team) work(id int, next func() bool) {
	op, l := t.ops[id], &t.lanes[id]
	l.start = time.Now()
	n := l.done.Load()
	for next() {
		if t.stop.Load() {
			return
		}
		if err := op(); err != nil {
			t.fail(err)
			return
		}
		n++
		l.done.Store(n)
	}
	l.end = time.Now()
}

// result sums up a run that had no error.
func (t *team) result() Result {
	start, end := t.lanes[0].start, t.lanes[0].end
	for i := range t.lanes {
		if t.lanes[i].start.Before(start) {
			start = t.lanes[i].start
		}
		if t.lanes[i].end.After(end) {
			end = t.lanes[i].end
		}
	}
	var idle time.Duration
	for i := range t.lanes {
		idle += end.Sub(t.lanes[i].end)
	}
	r := Result{Workers: len(t.lanes), Elapsed: end.Sub(start)}
	if r.Elapsed > 0 {
		r.IdleTail = float64(idle) / (float64(r.Elapsed) * float64(len(t.lanes)))
	}
	return r
}

// watch starts a goroutine that fails the run when no worker finishes an op
// for the limit. The run calls the returned function when its workers have
// ended.
func (t *team) watch() (end func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		if t.stalled(done) {
			t.fail(fmt.Errorf("%w: no op finished for %v", ErrStalled, t.o.StallLimit))
			if t.o.Abort != nil {
				t.o.Abort()
			}
		}
	})
	return func() {
		close(done)
		ended.Wait()
	}
}

// stalled returns true when no op finished for the limit, and false when done
// is closed before.
func (t *team) stalled(done <-chan struct{}) bool {
	const looks = 8
	tick := time.NewTicker(t.o.StallLimit / looks)
	defer tick.Stop()
	last, still := int64(-1), 0
	for still < looks {
		select {
		case <-done:
			return false
		case <-tick.C:
		}
		sum := int64(0)
		for i := range t.lanes {
			sum += t.lanes[i].done.Load()
		}
		if sum == last && !t.idle.Load() {
			still++
		} else {
			last, still = sum, 0
		}
	}
	return true
}
