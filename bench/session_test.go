package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rcbench/adapters"
	"rcbench/bench/internal/corpus"
	"rcbench/bench/internal/drive"
	"rcbench/bench/internal/meter"
	"rcbench/bench/internal/param"
	"rcbench/bench/internal/storm"
	"rcbench/internal/target"
)

// A workload is a family of cases with its body: a worker, or a crowd of
// processes. What else it needs is optional.
type workload struct {
	param.Family

	// claims is how often one op of the case calls each command, by
	// lower-case name.
	claims func(param.Case) map[string]int64

	// keys says that the body reads a corpus, which is loaded before; folder
	// is the part of its keys that tells it from others, for a body that
	// writes to it.
	keys   bool
	folder string

	// worker returns the exchange of worker id, with what it needs prepared.
	// The exchange is called by one goroutine at a time.
	worker func(s *session, id int) exchange

	// warmer returns a short exchange that warms a connection where that of
	// worker is long.
	warmer func(s *session, id int) exchange

	// prepare is called before ops are run and outside of what is measured,
	// to bring the keys into the state in which they start. It also checks
	// that the ops before left what they should, and is called with 0 after
	// the last.
	prepare func(ctx context.Context, s *session, ops int64) error

	// metrics are the workload's own figures since the last call.
	metrics func(s *session) []meter.Metric

	// crowd starts the processes that do the op, in place of a worker.
	crowd func(ctx context.Context, s *session) (*crowd, error)
}

// An exchange is what one op does with a connection: it sends commands, awaits
// and checks every reply.
type exchange func(ctx context.Context, c adapters.Client) error

// host is the part of a server that a session needs.
type host interface {
	meter.Source
	Config(net string) (adapters.Config, error)
	Control() adapters.Client
	Dial(ctx context.Context, db int) (adapters.Client, error)
	Died() error
	MaxClients() int
	Foreign() bool
	Root() (name, pem string)
}

var _ host = (*target.Server)(nil)

// A session is one case with its connections, which stay open while testing.B
// calls the benchmark again and again with a growing b.N.
type session struct {
	workload
	param.Case
	host    host
	corpus  *corpus.Corpus
	control adapters.Client // prepares keys, in the case's database
	config  adapters.Config
	clients []adapters.Client
	ops     []drive.Op
	opened  bool
	crowd   *crowd                     // nil unless the workload has one
	state   any                        // the workload's own, which its functions share
	exit    atomic.Pointer[time.Timer] // armed by abort

	// freshErrors is the number of error replies that the handshake of one
	// connection is known to have; learned by making one.
	freshErrors int64
}

// run is the body of every Benchmark function.
func (w workload) run(b *testing.B) {
	for _, c := range w.Cases(flags) {
		s := &session{workload: w, Case: c, host: server}
		b.Run(c.Name(), s.benchmark)
		s.close()
	}
}

// benchmark is the leaf: testing.B calls it with b.N = 1 first, and then with
// a larger b.N until the run is long enough.
func (s *session) benchmark(b *testing.B) {
	b.Cleanup(func() {
		if b.Failed() {
			tally.failed.Add(1)
		}
	})
	if why := s.Skip(); why != "" {
		skip(b, why)
	}
	if !s.opened {
		s.note()
	}
	if err := s.host.Died(); err != nil {
		b.Fatal(err)
	}
	if !s.opened {
		if err := s.open(b.Context()); errors.Is(err, adapters.ErrUnsupported) {
			skip(b, err.Error())
		} else if err != nil {
			b.Fatal(s.explain(err))
		}
	}
	if err := s.measure(b); err != nil {
		b.Fatal(s.explain(err))
	}
	tally.measured.Add(1)
}

// noted holds the families whose note has been printed.
var noted = map[string]bool{}

// note says once for each family which of the user's flags it has no use for.
// It is called before the name of the session's first line is printed, as skip
// is: at b.N = 1 in a repetition (-count) it would be too late.
func (s *session) note() {
	if ignored := s.Ignores(flags); len(ignored) > 0 && !noted[s.workload.Name] {
		noted[s.workload.Name] = true
		fmt.Printf("# note: Benchmark%s does not use %s\n", s.workload.Name, strings.Join(ignored, ", "))
	}
}

// skip ends a case that its client cannot run on this server. testing.B shows
// a skip only with -v; the name of the case is not printed yet, so a line on
// its own is in nobody's way.
func skip(b *testing.B, why string) {
	tally.skipped.Add(1)
	fmt.Printf("# skip %s: %s\n", b.Name(), strings.ReplaceAll(why, "\n", "; "))
	b.SkipNow()
}

// measure is one run of b.N ops between two readings of the counters.
func (s *session) measure(b *testing.B) error {
	ctx := context.Background()
	if err := s.prepared(ctx, int64(b.N)); err != nil {
		return err
	}
	m, err := meter.Start(ctx, s.host)
	if err != nil {
		return err
	}
	if s.crowd != nil {
		s.crowd.reset()
	} else {
		b.ReportAllocs() // a crowd's processes allocate, and not this one
	}
	b.ResetTimer()
	result, err := drive.Parallel(b, s.ops, drive.Options{Abort: s.abort, StallLimit: s.stallLimit()})
	b.StopTimer()
	s.ended()
	if err != nil {
		return err
	}
	reading, err := m.Stop(ctx)
	if err != nil {
		return err
	}
	claim, cmds := s.claim(int64(b.N))
	elapsed := b.Elapsed()
	if c := s.crowd; c != nil {
		claim, cmds = c.claim()
		elapsed, reading.ClientCPU = c.elapsed, c.cpu()
		b.ReportMetric(float64(elapsed.Nanoseconds())/float64(b.N), "ns/op")
		b.ReportMetric(float64(c.bytes())/float64(b.N), "B/op")
		b.ReportMetric(float64(c.mallocs())/float64(b.N), "allocs/op")
	}
	if err := reading.Check(claim); err != nil {
		return err
	}
	reading.Report(b, meter.Scale{
		Ops: int64(b.N), Cmds: cmds, Elapsed: elapsed, Idle: result.IdleTail,
	}, flags.Metrics == "all")
	for _, m := range s.own() {
		b.ReportMetric(m.Value, m.Unit)
	}
	return s.prepared(ctx, 0)
}

// prepared calls prepare where the workload has it.
func (s *session) prepared(ctx context.Context, ops int64) error {
	if s.prepare == nil {
		return nil
	}
	return s.prepare(ctx, s, ops)
}

// own are the workload's own figures since the last call.
func (s *session) own() []meter.Metric {
	if s.metrics == nil {
		return nil
	}
	return s.metrics(s)
}

// claim is what n ops must have done on the server, and how many commands that
// are.
func (s *session) claim(n int64) (c meter.Claim, cmds int64) {
	c.Commands = s.claims(s.Case)
	for name := range c.Commands {
		c.Commands[name] *= n
		cmds += c.Commands[name]
	}
	if s.Conn == param.Fresh {
		c.Conns = n
		if s.workload.crowd != nil {
			c.Conns *= int64(s.Procs * s.Goroutines * s.Connects)
		}
		c.Errors = c.Conns * s.freshErrors
	}
	return c, cmds
}

func (s *session) close() {
	if s.crowd != nil {
		s.crowd.close()
	}
	if s.DB != 0 && s.control != nil {
		s.control.Close()
	}
	for _, c := range s.clients {
		c.Close()
	}
	s.clients = nil
}

// abort ends a run that hangs, by closing its connections. Ops that hang even
// then, in a client that ignores it, would keep the process for ever: unless
// ended is called soon, it exits.
func (s *session) abort() {
	s.exit.Store(time.AfterFunc(5*time.Second, func() {
		fmt.Fprintf(os.Stderr, "rcbench: %s hangs even after its connections were closed\n", s.Name())
		os.Exit(1)
	}))
	if s.crowd != nil {
		s.crowd.kill()
	}
	for _, c := range s.clients {
		go c.Close()
	}
}

// ended says that a run has returned, aborted or not.
func (s *session) ended() {
	if t := s.exit.Swap(nil); t != nil {
		t.Stop()
	}
}

// stallLimit is how long no op may finish: drive's, and the time that one op
// of every worker takes at a slow 10,000 commands and 1,000 connections a second,
// on a slow link of 20 MB/s.
func (s *session) stallLimit() time.Duration {
	const (
		commandsPerSecond = 10e3
		connsPerSecond    = 1e3
		bytesPerSecond    = 20e6
	)
	claim, commands := s.claim(1)
	seconds := float64(commands)/commandsPerSecond + float64(claim.Conns)/connsPerSecond + float64(commands)*float64(s.Value)/bytesPerSecond
	if s.workload.crowd == nil {
		seconds *= float64(s.Goroutines)
	} else { // its op is that of all workers, and its processes have to start
		seconds += float64(s.Procs)
	}
	return drive.StallLimit + time.Duration(seconds*float64(time.Second))
}

// explain adds to an error what its reader needs to act on it.
func (s *session) explain(err error) error {
	if err == nil {
		return nil
	}
	if died := s.host.Died(); died != nil {
		return errors.Join(died, err)
	}
	hint := drive.Hint(err, s.Goroutines)
	if s.workload.crowd != nil {
		hint = storm.Hint(err, s.Procs)
	}
	if hint != "" {
		return fmt.Errorf("%w: %s", err, hint)
	}
	return err
}
