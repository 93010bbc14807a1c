// Package forks runs a comparison: for every fork one fresh process an arm,
// and in each fork every comparison in turns of a few milliseconds.
//
//	fork        all arms are started, one process each, in an order drawn anew
//	  comparison    in an order drawn anew: the arms open the same case, so too
//	    round           in an order drawn anew: each arm takes one turn
//	      turn              a fixed number of ops, the same for each arm
//
// Only one arm measures at a time, while the connections of the others stay
// open. Before and after each turn the server's counters are read, and a turn
// that the server does not agree with ends the arm's part in the comparison:
// it is named in the Result and its figures are left out, the rest goes on.
// Connections and error replies are counted for the whole server, so what an
// arm does in the background while it should be idle may be charged to the one
// that is measured: it never passes unseen, but may bear the wrong name.
//
// Note: the number of ops of a turn is fixed for the life of a comparison and
// not adapted to the machine's mood. A turn that always took 4 ms would do
// fewer ops when the machine is slow, and weight the slow times less.
//
// Nor is it calibrated for each arm by itself, as DESIGN.md wanted. To begin a
// turn costs the same whatever its length (the worker and the server have to
// wake up), so an arm with more ops a turn looks faster: of two identical arms
// with one worker, of which one happened to get 44 ops and the other 88, the
// second took 0.92 of the time of the first, fork after fork. Among arms with
// the same number of ops that cost is the same, too.
//
// The order in which the arms open a case is drawn as well, since it shows: in
// the first round of a fork the arm that was the last to open took 0.979 of the
// time of the other (standard error 0.006), over 960 forks of identical arms.
package forks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"rcbench/bench/internal/meter"
	"rcbench/bench/internal/turns"
	"rcbench/internal/target"
)

// An Arm is what one process is: a build of the benchmarks with its flags.
type Arm struct {
	Name   string // unique: "goredis", or "base" and "head"
	Binary string // a compiled test binary of package bench
	Args   []string
	// Stretch lengthens the measured time of each turn of the arm by this
	// share of it, with real waiting: 0.03 is a slowdown of 3 %. It is how
	// aa finds out what this machine can see.
	Stretch float64
}

// A Comparison is one case measured by several arms.
type Comparison struct {
	Name    string // of the case, without what differs between the arms
	Entries []Entry
}

// An Entry is an arm's part in a comparison.
type Entry struct {
	Arm  int    // index into Plan.Arms
	Case string // the full name of the case in that arm
}

// A Plan says what to run.
type Plan struct {
	Arms        []Arm
	Comparisons []Comparison
	Forks       int           // at the most, if the budget ends before
	Budget      time.Duration // wall time for all of it, once EnoughForks are done
	Turn        time.Duration // aim for the length of a turn; 0 is DefaultTurn
	Seed        uint64        // of every order that is drawn
	Env         []string      // added to the environment of the arms
	Server      meter.Source
	Progress    func(Progress) // called often, by one goroutine; may be nil
}

// EnoughForks are carried out even if the budget does not hold them: it is what
// benchstat needs for an interval at its level of 95 %.
const EnoughForks = 6

// DefaultTurn is short enough for the machine not to change. With many workers
// the least number of ops of a turn takes longer; see PerWorker.
const DefaultTurn = 4 * time.Millisecond

// Progress says how far a run is.
type Progress struct {
	Fork, Forks int // from 1
	Comparison  string
	Elapsed     time.Duration
	Budget      time.Duration
}

// A Slice is one turn.
type Slice struct {
	Comparison int // index into Plan.Comparisons
	Entry      int // index into its Entries
	Fork       int
	Round      int
	Ops        int64
	turns.Outcome
	Claim  turns.Opened    // what one op claims
	Server target.Counters // the difference over the turn; zero if not Verified
}

// A Failure is an arm that could not go on.
type Failure struct {
	Comparison int // -1: not in a comparison
	Entry      int
	Arm        string
	Fork       int
	Err        error
}

func (f Failure) Error() string { return fmt.Sprintf("%s, fork %d: %v", f.Arm, f.Fork+1, f.Err) }

// A Skip is a case that its client cannot run on this server.
type Skip struct{ Case, Why string }

// A Result is all that was measured, complete or not.
type Result struct {
	Slices   []Slice
	Failures []Failure
	Skips    []Skip
	Forks    int           // completed
	Elapsed  time.Duration // wall time
	Measured time.Duration // part of it inside turns
	Verified bool          // the server told its counters
}

// Run carries out a plan. It returns what there is when ctx is done, together
// with ctx's error; no process is left when it returns.
func Run(ctx context.Context, p Plan) (*Result, error) {
	if p.Turn == 0 {
		p.Turn = DefaultTurn
	}
	r := &runner{
		Plan:   p,
		start:  time.Now(),
		ops:    map[int]int64{},
		out:    map[[2]int]bool{},
		result: &Result{},
	}
	err := ctx.Err()
	for fork := 0; fork < p.Forks && err == nil; fork++ {
		if fork >= EnoughForks && time.Since(r.start) >= p.Budget {
			break // the turns were longer than the plan had hoped
		}
		if err = r.fork(ctx, fork); err == nil {
			err = ctx.Err()
		}
	}
	r.result.Elapsed = time.Since(r.start)
	return r.result, err
}

type runner struct {
	Plan
	start  time.Time
	ops    map[int]int64   // of a turn of a comparison, once calibrated
	out    map[[2]int]bool // comparison, entry: failed, takes no further part
	slots  int             // comparisons begun, over all forks
	result *Result
	last   target.Counters // the latest reading
}

// fork starts the arms, goes through all comparisons once, and ends the arms.
func (r *runner) fork(ctx context.Context, fork int) error {
	procs := make([]*process, len(r.Arms))
	defer func() {
		for _, p := range procs {
			p.end()
		}
	}()
	rest := 0.0
	for _, arm := range r.Arms {
		rest = max(rest, arm.Stretch)
	}
	random := r.random(fork, 0)
	for _, i := range random.Perm(len(r.Arms)) {
		arm := r.Arms[i]
		p, err := start(ctx, arm, r.Env)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.fail(Failure{Comparison: -1, Arm: arm.Name, Fork: fork, Err: err})
			continue
		}
		p.rest = rest
		procs[i] = p
	}
	// All are connected to the server before the first of them counts its
	// connections.
	for i, p := range procs {
		if p == nil {
			continue
		}
		if _, err := p.list(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.fail(Failure{Comparison: -1, Arm: r.Arms[i].Name, Fork: fork, Err: err})
			p.kill()
		}
	}
	missed := make([]int, len(procs)) // comparisons without an arm that had ended
	for _, c := range random.Perm(len(r.Comparisons)) {
		if r.Progress != nil {
			r.Progress(Progress{Fork: fork + 1, Forks: r.Forks, Comparison: r.Comparisons[c].Name,
				Elapsed: time.Since(r.start), Budget: r.Budget})
		}
		left := r.Forks*len(r.Comparisons) - r.slots
		r.slots++
		until := time.Now().Add((r.Budget - time.Since(r.start)) / time.Duration(left))
		for _, e := range r.Comparisons[c].Entries {
			if p := procs[e.Arm]; p != nil && p.dead {
				missed[e.Arm]++
			}
		}
		if err := r.compare(ctx, fork, c, procs, until); err != nil {
			return err
		}
	}
	for i, n := range missed {
		if n > 0 {
			r.missed(i, fork, n)
		}
	}
	r.result.Forks++
	return nil
}

// missed adds to the failure of an arm that its process was missing in n more
// comparisons of the fork.
func (r *runner) missed(arm, fork, n int) {
	name := r.Arms[arm].Name
	for i := range r.result.Failures {
		if f := &r.result.Failures[i]; f.Arm == name && f.Fork == fork {
			f.Err = fmt.Errorf("%w (%d more comparisons of this fork are without it)", f.Err, n)
			return
		}
	}
	r.fail(Failure{Comparison: -1, Arm: name, Fork: fork, Err: fmt.Errorf("the process had ended before %d comparisons", n)})
}

// random is the source of the orders of one comparison in a fork, counted from
// 1; 0 is for the order in which the arms start, and that of the comparisons.
// Each has its own, so that a seed gives the same orders however many rounds
// there were before.
func (r *runner) random(fork, comparison int) *rand.Rand {
	return rand.New(rand.NewPCG(r.Seed, uint64(fork)<<32|uint64(comparison)))
}

// compare takes rounds until the time is up, at least one.
func (r *runner) compare(ctx context.Context, fork, c int, procs []*process, until time.Time) (err error) {
	var open []*seat
	for e, entry := range r.Comparisons[c].Entries {
		if p := procs[entry.Arm]; p != nil && !p.dead && !r.out[[2]int{c, e}] {
			open = append(open, &seat{process: p, entry: entry, comparison: c, index: e, fork: fork})
		}
	}
	defer func() {
		for _, s := range open {
			if err != nil {
				s.process.kill() // the run is over; closing may hang
				continue
			}
			if _, err := s.process.call(ctx, turns.Request{Do: "close"}, turnLimit); err != nil && ctx.Err() == nil {
				r.fail(Failure{Comparison: c, Entry: s.index, Arm: r.Arms[s.entry.Arm].Name, Fork: fork, Err: err})
			}
		}
	}()
	each := func(f func(*seat) error) error {
		for i := 0; i < len(open); i++ {
			err := f(open[i])
			if err == nil {
				continue
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, errServer) {
				return err // it is not the arm's fault
			}
			s := open[i]
			r.out[[2]int{c, s.index}] = true
			r.fail(Failure{Comparison: c, Entry: s.index, Arm: r.Arms[s.entry.Arm].Name, Fork: fork, Err: err})
			s.process.call(ctx, turns.Request{Do: "close"}, turnLimit)
			open = append(open[:i:i], open[i+1:]...)
			i--
		}
		return nil
	}
	random := r.random(fork, 1+c)
	shuffle := func() { random.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] }) }
	shuffle()
	err = each(func(s *seat) error { return s.open(ctx) })
	open = slices.DeleteFunc(open, func(s *seat) bool { return r.skipped(s) })
	if err == nil {
		err = r.read(ctx)
	}
	if err == nil {
		err = r.calibrate(ctx, c, each)
	}
	for round := 0; err == nil && len(open) > 0 && (round == 0 || time.Now().Before(until)); round++ {
		shuffle()
		err = each(func(s *seat) error {
			slice, err := r.turn(ctx, s, r.ops[c])
			if err != nil {
				return err
			}
			slice.Round = round
			r.result.Slices = append(r.result.Slices, slice)
			r.result.Measured += slice.Elapsed
			return nil
		})
	}
	return err
}

// skipped says whether the client cannot run the case on this server, which is
// no failure.
func (r *runner) skipped(s *seat) bool {
	if s.claim.Skip == "" {
		return false
	}
	r.out[[2]int{s.comparison, s.index}] = true
	r.result.Skips = append(r.result.Skips, Skip{Case: s.entry.Case, Why: s.claim.Skip})
	return true
}

func (r *runner) fail(f Failure) { r.result.Failures = append(r.result.Failures, f) }

// errServer is wrapped by the errors of the server, which end a run.
var errServer = errors.New("reading the server's counters")

// read takes a reading of the server's counters, from which the next turn
// counts. A server that has never told them need not; one that has told them
// once must go on.
func (r *runner) read(ctx context.Context) error {
	counters, err := r.Server.Counters(ctx)
	if errors.Is(err, target.ErrNoCounters) && !r.result.Verified {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errServer, err)
	}
	r.last, r.result.Verified = counters, true
	return nil
}

// turn lets one arm run ops and holds its claim against the server.
func (r *runner) turn(ctx context.Context, s *seat, ops int64) (Slice, error) {
	if s.claim.Prepares {
		_, err := s.process.call(ctx, turns.Request{Do: "prepare", Ops: ops}, turnLimit+2*s.claim.Stall)
		if readErr := r.read(ctx); readErr != nil || err != nil {
			return Slice{}, errors.Join(readErr, err)
		}
	}
	before := r.last
	response, err := s.process.call(ctx, turns.Request{Do: "turn", Ops: ops}, turnLimit+2*s.claim.Stall)
	if err != nil {
		// The next turn does not count what this one did.
		if readErr := r.read(ctx); readErr != nil {
			return Slice{}, errors.Join(readErr, err)
		}
		return Slice{}, err
	}
	slice := Slice{Comparison: s.comparison, Entry: s.index, Fork: s.fork, Ops: ops,
		Outcome: *response.Turn, Claim: s.claim}
	if err := r.read(ctx); err != nil {
		return Slice{}, err
	}
	if !r.result.Verified {
		return slice, nil
	}
	slice.Server = r.last.Since(before)
	reading := meter.Reading{Verified: true, Server: slice.Server}
	if err := reading.Check(claim(slice)); err != nil {
		return Slice{}, err
	}
	return slice, nil
}

// claim is what a turn must have done on the server.
func claim(s Slice) meter.Claim {
	if s.Outcome.Claim != nil {
		return meter.Claim(*s.Outcome.Claim)
	}
	one := s.Claim.Claim
	c := meter.Claim{Commands: map[string]int64{}, Conns: one.Conns * s.Ops, Errors: one.Errors * s.Ops}
	for name, n := range one.Commands {
		c.Commands[name] = n * s.Ops
	}
	return c
}

// PerWorker is how many commands each worker sends in a turn at the least, or
// how many connections it makes where that is part of an op, which is much more
// work. The wake-up of the workers at the start of a turn, and the wait for the
// last at its end, are then a small part of it, and the same part for every arm.
const (
	PerWorker      = 10
	perWorkerConns = 2
)

// least is the smallest number of ops of a turn.
func (s *seat) least() int64 {
	each := int64(perWorkerConns)
	if s.claim.Conns == 0 {
		each = PerWorker
	}
	return int64(s.claim.Workers) * max(1, each/s.commands())
}

// commands are the calls that one op makes of the command that it calls most,
// at least 1.
func (s *seat) commands() int64 {
	commands := int64(1)
	for _, n := range s.claim.Commands {
		commands = max(commands, n)
	}
	return commands
}

// fastest is less than the time of a command in any pipeline.
const fastest = 200 * time.Nanosecond

// longest is how many turns' time an arm may take for one, where another is so
// much faster that it needs that many ops.
const longest = 50

// calibrate finds the number of ops of the turns of a comparison in its first
// fork: as many as the arm that needs the most of them to fill a turn. In later
// forks the op that warmed each connection is enough.
func (r *runner) calibrate(ctx context.Context, c int, each func(func(*seat) error) error) error {
	if r.ops[c] > 0 {
		return nil
	}
	most, limit := int64(0), int64(math.MaxInt64)
	err := each(func(s *seat) error {
		ops, perOp, err := r.fill(ctx, s)
		if err != nil {
			return err
		}
		most = max(most, ops)
		limit = min(limit, max(ops, int64(longest*r.Turn/perOp)))
		return nil
	})
	r.ops[c] = min(most, limit)
	return err
}

// fill is the number of ops with which an arm fills a turn, and the time of one
// of them, which is at least 1 ns.
func (r *runner) fill(ctx context.Context, s *seat) (ops int64, perOp time.Duration, err error) {
	ops = s.least()
	if shortest := fastest * time.Duration(s.commands()); shortest*time.Duration(ops) >= r.Turn {
		return ops, shortest, nil // no client is fast enough for more
	}
	for range 8 {
		slice, err := r.turn(ctx, s, ops)
		if err != nil {
			return 0, 0, err
		}
		perOp = max(slice.Elapsed/time.Duration(ops), 1)
		aim := int64(float64(ops) * float64(r.Turn) / float64(max(slice.Elapsed, 1)))
		enough := aim <= ops+ops/4 // or the least takes longer than a turn
		ops = max(s.least(), min(aim, 20*ops))
		if enough {
			break
		}
	}
	return ops, perOp, nil
}

// A seat is an arm in a comparison of a fork.
type seat struct {
	process    *process
	entry      Entry
	comparison int
	index      int
	fork       int
	claim      turns.Opened
}

func (s *seat) open(ctx context.Context) error {
	response, err := s.process.call(ctx, turns.Request{Do: "open", Case: s.entry.Case}, openLimit)
	if err == nil {
		s.claim = *response.Open
	}
	return err
}
