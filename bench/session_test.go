package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rcbench/adapters"
	"rcbench/bench/internal/corpus"
	"rcbench/bench/internal/drive"
	"rcbench/bench/internal/meter"
	"rcbench/bench/internal/param"
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

// open loads the keys, opens the connections, proves from the server's side
// that they are as many as the case says, and warms each with a real op.
func (s *session) open(ctx context.Context) error {
	s.opened = true
	var err error
	if s.config, err = s.host.Config(s.Net); err != nil {
		return err
	}
	s.config.Setup, s.config.Protocol = s.Setup, s.Proto
	s.config.Lazy = s.Conn == param.Fresh
	s.control = s.host.Control()
	if s.DB != 0 {
		s.config.DB = s.DB
		if s.control, err = s.host.Dial(ctx, s.DB); err != nil {
			return err
		}
	}
	if err := s.fits(); err != nil {
		return err
	}
	if s.keys {
		folder := s.folder
		if folder != "" {
			folder += strconv.Itoa(s.Keyspace) + ":" // other values than in another keyspace
		}
		s.corpus = corpus.New(folder, s.Keyspace, int(s.Value))
		if n := s.corpus.Len(); n < s.Keyspace && s.Keyspace != param.DefaultKeyspace {
			err := fmt.Errorf("keyspace=%d with values of %v is more than a corpus holds; at most %d", s.Keyspace, s.Value, n)
			if !s.KeyspaceAsked {
				err = fmt.Errorf("%w: %w", err, adapters.ErrUnsupported)
			}
			return err
		}
		if err := s.load(ctx); err != nil {
			return fmt.Errorf("loading %d keys: %w", s.corpus.Len(), err)
		}
	}
	before, err := meter.Start(ctx, s.host)
	if err != nil {
		return err
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	want := int64(max(s.Conns(), 1))
	if s.crowd != nil {
		want = s.crowd.conns()
	} else if err := s.warm(ctx); err != nil {
		return err
	}
	opened, err := s.settle(ctx, before, want)
	if err != nil {
		return err
	}
	if s.Conn == param.Fresh {
		s.freshErrors = opened.Errors
	}
	if s.crowd != nil {
		s.freshErrors /= int64(s.Procs)
	}
	return nil
}

// fits says before connecting if the server does not take as many connections
// at once.
func (s *session) fits() error {
	conns := s.Conns()
	if s.Conn == param.Fresh {
		conns = s.Goroutines * s.Procs
	}
	const control = 2 // the suite's own
	if limit := s.host.MaxClients(); limit > 0 && conns+control > limit {
		return fmt.Errorf("%d connections at once, and %d of the suite's own, are more than the maxclients of %d that the server allows", conns, control, limit)
	}
	return nil
}

// settle returns what opening cost, once the server has counted as many
// connections as want. The kernel answers a connect before the server accepts
// it, so a connection that has sent nothing yet may be counted a little later.
func (s *session) settle(ctx context.Context, before *meter.Meter, want int64) (target.Counters, error) {
	deadline := time.Now().Add(2 * time.Second)
	for {
		reading, err := before.Stop(ctx)
		if err != nil || !reading.Verified {
			return target.Counters{}, err
		}
		got := reading.Server.Connections
		if got == want {
			return reading.Server, nil
		}
		if got > want || time.Now().After(deadline) {
			return target.Counters{}, fmt.Errorf("connections opened: the server counted %d, conn=%s wants %d", got, s.Conn, want)
		}
		time.Sleep(time.Millisecond)
	}
}

// connect opens the clients that stay open and makes each worker's op.
func (s *session) connect(ctx context.Context) error {
	keep := func(c adapters.Client, err error) error {
		if err == nil {
			s.clients = append(s.clients, c)
		}
		return err
	}
	var err error
	if s.workload.crowd != nil {
		if s.crowd, err = s.workload.crowd(ctx, s); err == nil {
			s.ops = []drive.Op{s.crowd.op}
		}
		return err
	}
	switch s.Conn {
	case param.Own:
		for i := 0; i < s.Goroutines && err == nil; i++ {
			if err = keep(s.Driver.Dial(ctx, s.config)); err != nil {
				err = fmt.Errorf("connection %d of %d: %w", i+1, s.Goroutines, err)
			}
		}
	case param.Shared:
		err = keep(s.Driver.Share(ctx, s.config))
	case param.Pool:
		err = keep(s.Driver.Open(ctx, s.config, s.Conns()))
	}
	if err != nil {
		return err
	}
	s.ops = make([]drive.Op, s.Goroutines)
	for id := range s.ops {
		s.ops[id] = s.op(id, s.worker(s, id))
	}
	return nil
}

// op binds the exchange of a worker to its connection.
func (s *session) op(id int, exchange exchange) drive.Op {
	ctx := context.Background()
	if s.Conn == param.Fresh {
		return func() error {
			c, err := s.Driver.Dial(ctx, s.config)
			if err != nil {
				return err
			}
			if err := exchange(ctx, c); err != nil {
				c.Close()
				return err
			}
			return c.Close()
		}
	}
	c := s.clients[id%len(s.clients)]
	return func() error { return exchange(ctx, c) }
}

// warm does one op of each worker at the same time: so each connection of a
// pool carries one, and a client that changes its mode under concurrency has
// done so before the timer starts. With fresh connections, where there is
// nothing to warm, it is one op alone, which shows what the handshake costs.
func (s *session) warm(ctx context.Context) error {
	ops := s.ops
	if s.Conn == param.Fresh {
		ops = ops[:1]
	}
	if s.warmer != nil {
		short := make([]drive.Op, len(ops))
		for id := range short {
			short[id] = s.op(id, s.warmer(s, id))
		}
		ops = short
	} else if err := s.prepared(ctx, int64(len(ops))); err != nil {
		return err
	}
	errs := make([]error, len(ops))
	var all sync.WaitGroup
	for i, op := range ops {
		all.Go(func() { errs[i] = op() })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("warm-up: %w", err)
		}
	}
	if s.metrics != nil {
		s.metrics(s) // those of the warm-up are not wanted
	}
	return nil
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
	if hint := drive.Hint(err, s.Goroutines); hint != "" {
		return fmt.Errorf("%w: %s", err, hint)
	}
	return err
}

// load writes the corpus in small pipelines, unless its first and last key
// are there already. A pipeline whose replies do not fit into the socket's
// buffers would hang on a server that, like miniredis, reads no further while
// it cannot write.
func (s *session) load(ctx context.Context) error {
	const commands = 100
	c, keys := s.control, s.corpus
	last := keys.Len() - 1
	there := func(i int) bool {
		n, err := c.Strlen(ctx, keys.Key(i))
		return err == nil && n == int64(len(keys.Value(i)))
	}
	if there(0) && there(last) {
		return nil // the keys are written in order, and every read is checked
	}
	batch := c.NewBatch(commands)
	for i := range keys.Len() {
		batch.Set(keys.Key(i), keys.Value(i))
		if batch.Len() < commands && i < last {
			continue
		}
		if err := batch.Exec(ctx); err != nil {
			return err
		}
		batch.Reset()
	}
	return nil
}
