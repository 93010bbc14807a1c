package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// A workload is a family of cases with its body.
type workload struct {
	param.Family

	// claims is how often one op of the case calls each command, by
	// lower-case name.
	claims func(param.Case) map[string]int64

	// keys says that the body reads a corpus, which is loaded before.
	keys bool

	// worker returns the exchange of worker id, with what it needs prepared.
	// The exchange is called by one goroutine at a time.
	worker func(s *session, id int) exchange
}

// An exchange is what one op does with a connection: it sends commands, awaits
// and checks every reply.
type exchange func(ctx context.Context, c adapters.Client) error

// host is the part of a server that a session needs.
type host interface {
	meter.Source
	Config(net string) (adapters.Config, error)
	Control() adapters.Client
	Died() error
}

var _ host = (*target.Server)(nil)

// A session is one case with its connections, which stay open while testing.B
// calls the benchmark again and again with a growing b.N.
type session struct {
	workload
	param.Case
	host    host
	corpus  *corpus.Corpus
	config  adapters.Config
	clients []adapters.Client
	ops     []drive.Op
	opened  bool
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
	m, err := meter.Start(ctx, s.host)
	if err != nil {
		return err
	}
	b.ReportAllocs()
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
	if err := reading.Check(claim); err != nil {
		return err
	}
	reading.Report(b, meter.Scale{
		Ops: int64(b.N), Cmds: cmds, Elapsed: b.Elapsed(), Idle: result.IdleTail,
	}, flags.Metrics == "all")
	return nil
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
		c.Errors = n * s.freshErrors
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
	if s.keys {
		s.corpus = corpus.New(s.Keyspace, int(s.Value))
		if n := s.corpus.Len(); n < s.Keyspace && s.Keyspace != param.DefaultKeyspace {
			return fmt.Errorf("-keyspace=%d with values of %v is more than a corpus holds; at most %d", s.Keyspace, s.Value, n)
		}
		if err := load(ctx, s.host.Control(), s.corpus); err != nil {
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
	warm := s.ops
	if s.Conn == param.Fresh {
		warm = s.ops[:1]
	}
	if err := s.warm(warm); err != nil {
		return err
	}
	opened, err := s.settle(ctx, before, int64(max(s.Conns(), 1)))
	if err != nil {
		return err
	}
	if s.Conn == param.Fresh {
		s.freshErrors = opened.Errors
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
		s.ops[id] = s.op(id)
	}
	return nil
}

// op binds the exchange of a worker to its connection.
func (s *session) op(id int) drive.Op {
	ctx := context.Background()
	exchange := s.worker(s, id)
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

// warm does one op of each at the same time: so each connection of a pool
// carries one, and a client that changes its mode under concurrency has done
// so before the timer starts.
func (s *session) warm(ops []drive.Op) error {
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
	return nil
}

func (s *session) close() {
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
// of every worker takes on a slow link of 20 MB/s.
func (s *session) stallLimit() time.Duration {
	const bytesPerSecond = 20e6
	bytes := float64(s.Value) * float64(s.Loop*s.Depth) * float64(s.Goroutines)
	return drive.StallLimit + time.Duration(bytes/bytesPerSecond*float64(time.Second))
}

// explain adds to an error what its reader needs to act on it.
func (s *session) explain(err error) error {
	if died := s.host.Died(); died != nil {
		return errors.Join(died, err)
	}
	if hint := drive.Hint(err, s.Goroutines); hint != "" {
		return fmt.Errorf("%w: %s", err, hint)
	}
	return err
}

// load writes a corpus in small pipelines. A pipeline whose replies do not fit
// into the socket's buffers would hang on a server that, like miniredis, reads
// no further while it cannot write.
func load(ctx context.Context, c adapters.Client, keys *corpus.Corpus) error {
	const commands = 100
	batch := c.NewBatch(commands)
	for i := range keys.Len() {
		batch.Set(keys.Key(i), keys.Value(i))
		if batch.Len() < commands && i < keys.Len()-1 {
			continue
		}
		if err := batch.Exec(ctx); err != nil {
			return err
		}
		batch.Reset()
	}
	return nil
}
