package bench

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"rcbench/adapters"
	"rcbench/bench/internal/corpus"
	"rcbench/bench/internal/drive"
	"rcbench/bench/internal/meter"
	"rcbench/bench/internal/param"
	"rcbench/internal/target"
)

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
