package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"rcbench/adapters"
	"rcbench/internal/target"
)

// An Env is what a check works with: a driver, servers, and a mode.
type Env struct {
	Driver adapters.Driver
	Server *target.Server
	Auth   *target.Server // asks for a password; nil if there is none
	Mode   Mode           // empty for a check that chooses for itself
	Logf   func(format string, args ...any)

	prefix  string // of every key, differs for each try
	mu      sync.Mutex
	cleanup []func()
}

// key is a key that no other try uses.
func (e *Env) key(name string) string { return e.prefix + name }

func (e *Env) serverName() string {
	cfg, err := e.Server.Config("tcp")
	if err != nil {
		return e.Server.Describe()
	}
	return e.Server.Describe() + ", " + cfg.Addr
}

// lacks says whether the driver lacks c. Whether it may is checked by
// "capabilities are true".
func (e *Env) lacks(c adapters.Capability) bool {
	_, lacks := e.Driver.Lacks()[c]
	return lacks
}

// modes are the modes that the driver has.
func (e *Env) modes() []Mode {
	if e.lacks(adapters.CapMultiplex) {
		return []Mode{Dial, Open}
	}
	return anyMode
}

// config is the way to the server over TCP with a lean setup, which most
// checks use: with it nothing but the commands reaches the server.
func (e *Env) config() (adapters.Config, error) {
	cfg, err := e.Server.Config("tcp")
	cfg.Setup = adapters.Lean
	return cfg, err
}

// setups are the setups to check: stock and lean, unless the server is no basis
// for stock. What the clients ship as their default needs more of a server than
// miniredis has (CLIENT TRACKING, say), and a driver refuses it then.
func (e *Env) setups(ctx context.Context) ([]adapters.Setup, error) {
	cfg, err := e.config()
	if err != nil {
		return nil, err
	}
	cfg.Setup = adapters.Stock
	c, err := e.Driver.Dial(ctx, cfg)
	switch {
	case err == nil:
		c.Ping(ctx) // so that the server has accepted, and counted, it by now
		c.Close()
	case e.Server.Miniredis() && errors.Is(err, adapters.ErrUnsupported):
		e.Logf("without stock: %v", err)
		return []adapters.Setup{adapters.Lean}, nil
	}
	return []adapters.Setup{adapters.Stock, adapters.Lean}, nil
}

// client connects over TCP in the mode of the check.
func (e *Env) client(ctx context.Context) (adapters.Client, error) {
	cfg, err := e.config()
	if err != nil {
		return nil, err
	}
	return e.connect(ctx, e.Mode, cfg, poolSize)
}

// connect opens a client that is closed at the end of the check, if the check
// did not close it before.
func (e *Env) connect(ctx context.Context, m Mode, cfg adapters.Config, conns int) (adapters.Client, error) {
	var c adapters.Client
	var err error
	switch m {
	case Dial:
		c, err = e.Driver.Dial(ctx, cfg)
	case Share:
		c, err = e.Driver.Share(ctx, cfg)
	case Open:
		c, err = e.Driver.Open(ctx, cfg, conns)
	default:
		panic("adaptertest: a check without modes did not choose one")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m, err)
	}
	if c == nil {
		return nil, fmt.Errorf("%s: neither a client nor an error", m)
	}
	e.atEnd(func() { within("Close", async(c.Close)) })
	return c, nil
}

// atEnd registers what closeAll calls, in this order: a proxy comes before the
// clients that connect through it, so that none of them waits for an answer.
func (e *Env) atEnd(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cleanup = append(e.cleanup, f)
}

func (e *Env) closeAll() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.cleanup {
		f()
	}
	e.cleanup = nil
}

// calls returns what the server was asked while f ran, by command, without
// the readings themselves. f does not use the control connection.
func (e *Env) calls(ctx context.Context, f func()) (map[string]int64, error) {
	before, err := e.Server.Counters(ctx)
	if err != nil {
		return nil, err
	}
	f()
	after, err := e.Server.Counters(ctx)
	if err != nil {
		return nil, err
	}
	return after.Since(before).Calls, nil
}

// counted waits until the server has been asked for as many of each command as
// want says, since before.
func (e *Env) counted(ctx context.Context, before target.Counters, want map[string]int64) error {
	var missing error
	err := poll(ctx, func() (bool, error) {
		now, err := e.Server.Counters(ctx)
		missing = nil
		for command, n := range want {
			if got := now.Calls[command] - before.Calls[command]; got < n {
				missing = errors.Join(missing, fmt.Errorf("%d of %d %s have reached the server", got, n, command))
			}
		}
		return missing == nil, err
	})
	if err != nil {
		return errors.Join(missing, err)
	}
	return nil
}

// settled returns the server's counters once only the control connection is
// open: a connection that was closed by this side is one of the server's
// clients until the server has noticed.
func (e *Env) settled(ctx context.Context) (target.Counters, error) {
	var last target.Counters
	err := poll(ctx, func() (bool, error) {
		now, err := e.Server.Counters(ctx)
		last = now
		return now.Clients <= 1, err
	})
	if err != nil {
		return last, fmt.Errorf("clients connected though all were closed: got %d, want none: %w", last.Clients-1, err)
	}
	return last, nil
}

const pollEvery = 2 * time.Millisecond

var errNotYet = errors.New("not within " + soon.String())

// poll calls done until it says so, and fails if that is not soon.
func poll(ctx context.Context, done func() (bool, error)) error {
	for start := time.Now(); time.Since(start) < soon; time.Sleep(pollEvery) {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return errNotYet
}

// within waits for a value, and fails if it does not come soon.
func within[T any](what string, c <-chan T) (T, error) {
	timer := time.NewTimer(soon)
	defer timer.Stop()
	select {
	case v := <-c:
		return v, nil
	case <-timer.C:
		var zero T
		return zero, fmt.Errorf("%s: %w", what, errNotYet)
	}
}

// async runs f in a goroutine and returns where its result comes.
func async[T any](f func() T) <-chan T {
	c := make(chan T, 1)
	go func() { c <- f() }()
	return c
}

// findings collects what is wrong, each with input, got and want. It may be
// used by several goroutines.
type findings struct {
	mu   sync.Mutex
	errs []error
}

// maxFindings keeps a driver that is wrong everywhere readable.
const maxFindings = 8

func (f *findings) addf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.errs) < maxFindings {
		f.errs = append(f.errs, fmt.Errorf(format, args...))
	}
}

func (f *findings) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.errs...)
}

// ok finds fault with an error.
func (f *findings) ok(input string, err error) bool {
	if err != nil {
		f.addf("%s: %w", input, err)
	}
	return err == nil
}

// equal finds fault with a value other than want.
func (f *findings) equal(input string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		f.addf("%s: got %s, want %s", input, show(got), show(want))
	}
}

// got finds fault with an error, or with a value other than want.
func (f *findings) got(input string, got any, err error, want any) {
	if f.ok(input, err) {
		f.equal(input, got, want)
	}
}

// text is got for a value of bytes. A nil slice is not the empty value.
func (f *findings) text(input string, got []byte, err error, want string) {
	if err == nil && got == nil {
		f.addf("%s: got nil without an error, want %s", input, show(want))
		return
	}
	f.got(input, string(got), err, want)
}

// is finds fault with an error other than want.
func (f *findings) is(input string, err, want error) {
	if !errors.Is(err, want) {
		f.addf("%s: got error %v, want one that wraps %q", input, err, want)
	}
}

// unknown finds fault with anything but an error that says that the reply is
// not known.
func (f *findings) unknown(input string, err error) {
	switch {
	case err == nil:
		f.addf("%s: got no error, want one", input)
	case errors.Is(err, adapters.ErrNil), errors.Is(err, adapters.ErrReply):
		f.addf("%s: got %q, want an error that is no reply of the server", input, err)
	}
}

// server finds fault with what the server answers over the control connection.
func (f *findings) server(ctx context.Context, e *Env, want any, command ...string) {
	got, err := e.Server.Control().Do(ctx, command...)
	if want == nil && errors.Is(err, adapters.ErrNil) {
		return
	}
	f.got("the server, asked "+strings.Join(command, " "), got, err, want)
}

// store sets up a key over the control connection.
func (f *findings) store(ctx context.Context, e *Env, command ...string) {
	_, err := e.Server.Control().Do(ctx, command...)
	f.ok(fmt.Sprintf("control connection: %.60q", command), err)
}

// show prints a value so that a line stays a line.
func show(v any) string {
	const most = 120
	switch v := v.(type) {
	case []byte:
		if v != nil {
			return show(string(v))
		}
	case string:
		if len(v) > most {
			return fmt.Sprintf("%q... (%d bytes)", v[:most], len(v))
		}
		return strconv.Quote(v)
	case error, nil, bool, int, int64, float64, map[string]int64:
		return fmt.Sprint(v)
	}
	s := fmt.Sprintf("%q", v)
	if len(s) > most {
		s = s[:most] + "..."
	}
	return s
}
