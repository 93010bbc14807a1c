package adaptertest

import (
	"context"
	"errors"
	"time"

	"rcbench/adapters"
)

var contextChecks = []Check{{
	Name:  "done context sends nothing",
	Doc:   "A context that is already done fails each method before anything is sent.",
	Modes: anyMode,
	Run:   checkDone,
}, {
	Name:  "context of Dial ends with Dial",
	Doc:   "A client lives on when the context that it was opened with is cancelled.",
	Modes: anyMode,
	Run:   checkOpeningContext,
}, {
	Name:  "cancel ends a command in flight",
	Doc:   "A command that the server does not answer ends soon after its context was cancelled.",
	Needs: adapters.CapCancel,
	Modes: anyMode,
	Run:   func(ctx context.Context, e *Env) error { return checkInFlight(ctx, e, cancelled) },
}, {
	Name:  "deadline ends a command in flight",
	Doc:   "A command that the server does not answer ends soon after its context's deadline.",
	Needs: adapters.CapDeadline,
	Modes: anyMode,
	Run:   func(ctx context.Context, e *Env) error { return checkInFlight(ctx, e, expired) },
}, {
	Name:  "IOTimeout ends a command in flight",
	Doc:   "A command that the server does not answer ends soon after IOTimeout, unless the driver refuses to promise that.",
	Modes: anyMode,
	Run:   func(ctx context.Context, e *Env) error { return checkInFlight(ctx, e, timedOut) },
}}

func checkDone(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	expired, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
	defer cancel()
	b := c.NewBatch(1)
	sent, err := e.calls(ctx, func() {
		for _, done := range []context.Context{cancelled, expired} {
			for _, call := range calls {
				f.unknown(call.method+" with a context that is done", call.run(done, c, e.key("k")))
			}
			for _, how := range execs {
				b.Set(e.key("k"), "v")
				f.unknown(how.name+" with a context that is done", how.exec(b, done))
				f.unknown("Err after "+how.name+" with a context that is done", b.Err(0))
				b.Reset()
			}
			if async, ok := c.(adapters.Async); ok {
				f.unknown("GetAll with a context that is done", async.GetAll(done, []string{e.key("k")}, make([][]byte, 1)))
			}
		}
		f.ok("Ping afterwards", c.Ping(ctx))
	})
	f.got("commands that reached the server", sent, err, map[string]int64{"ping": 1})

	cfg, err := e.config()
	if err != nil {
		return err
	}
	f.unknown("connecting with a context that is done", second(e.connect(cancelled, e.Mode, cfg, poolSize)))
	return f.err()
}

func checkOpeningContext(ctx context.Context, e *Env) error {
	opening, cancel := context.WithTimeout(ctx, tooLong/2)
	c, err := e.client(opening)
	cancel()
	if err != nil {
		return err
	}
	var f findings
	b := c.NewBatch(1)
	for range 2 * poolSize {
		f.ok("Ping", c.Ping(ctx))
		b.Set(e.key("k"), "v")
		f.ok("Exec", b.Exec(ctx))
		b.Reset()
	}
	return f.err()
}

// end is how a command in flight comes to its end.
type end int

const (
	cancelled end = iota
	expired
	timedOut
)

func checkInFlight(ctx context.Context, e *Env, how end) error {
	const brief = 60 * time.Millisecond
	proxy, cfg, err := e.fault(ctx)
	if err != nil {
		return err
	}
	if how == timedOut {
		// It bounds the handshake too, on however busy a machine.
		cfg.IOTimeout = 5 * brief
	}

	// Each on a client of its own: what follows on a connection whose reply
	// was given up is the client's affair.
	inFlight := []struct {
		name string
		run  func(ctx context.Context, c adapters.Client) error
	}{
		{"Get", func(ctx context.Context, c adapters.Client) error { return second(c.Get(ctx, e.key("k"))) }},
		{"Set", func(ctx context.Context, c adapters.Client) error { return c.Set(ctx, e.key("k"), "v") }},
		{"Exec", func(ctx context.Context, c adapters.Client) error {
			b := c.NewBatch(2)
			b.Incr(e.key("n"))
			b.Incr(e.key("n"))
			return b.Exec(ctx)
		}},
		{"ExecTx", func(ctx context.Context, c adapters.Client) error {
			b := c.NewBatch(1)
			b.SAdd(e.key("set"), "m")
			return b.ExecTx(ctx)
		}},
	}
	counter := []string{"get", "set", "incr", "sadd"}
	clients := make([]adapters.Client, len(inFlight))
	for i := range inFlight {
		clients[i], err = e.connect(ctx, e.Mode, cfg, poolSize)
		if how == timedOut && errors.Is(err, adapters.ErrUnsupported) {
			e.Logf("refused: %v", err)
			return nil
		}
		if err != nil {
			return err
		}
	}
	if err := proxy.silence(ctx); err != nil {
		return err
	}
	before, err := e.Server.Counters(ctx)
	if err != nil {
		return err
	}
	var f findings
	cancels := make([]context.CancelFunc, len(inFlight))
	results := make([]<-chan error, len(inFlight))
	for i, command := range inFlight {
		cctx := context.Background()
		switch how {
		case cancelled:
			cctx, cancels[i] = context.WithCancel(cctx)
		case expired:
			cctx, cancels[i] = context.WithTimeout(cctx, brief)
		case timedOut:
			cancels[i] = func() {}
		}
		defer cancels[i]()
		results[i] = async(func() error { return command.run(cctx, clients[i]) })
	}
	for i, command := range inFlight {
		// The others end by themselves, on a busy machine even before the
		// server has seen them.
		if how == cancelled {
			f.ok(command.name, e.counted(ctx, before, map[string]int64{counter[i]: 1}))
			cancels[i]()
		}
	}
	for i, command := range inFlight {
		err, late := within(command.name+" in flight", results[i])
		if f.ok(command.name, late) {
			f.unknown(command.name+" in flight", err)
		}
	}
	return f.err()
}
