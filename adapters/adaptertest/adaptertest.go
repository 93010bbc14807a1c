// Package adaptertest holds a Driver to the contract in package adapters.
//
// A driver joins with one line in adapters/all, whose test calls [Run] for
// every driver and every kind of server. What a client says about itself is
// not evidence: wherever the server can tell, it is asked, over a connection
// that the driver knows nothing about (what is stored under a key, how often a
// command was called, how many connections were accepted, and how many are
// open).
//
// A check is a function that returns an error, and not one that takes a
// testing.T, so that the suite can be tested itself: broken_test.go runs
// drivers that are broken in one way each, and expects the check that is named
// after that way to find it.
//
// Note: the faults are made by a TCP proxy within this process (see fault.go)
// and not by pausing or killing the server, because the server that must stay
// silent is also the one that is asked what it has seen.
package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"rcbench/adapters"
	"rcbench/internal/target"
)

// A Check is one behaviour that the contract asks of every driver.
type Check struct {
	Name string // the behaviour, as the name of a subtest
	Doc  string // what is done, and what must come of it

	// Needs is the capability without which the check is skipped, with the
	// reason that the driver gives; empty if every driver must pass.
	Needs adapters.Capability

	// Modes are the ways to connect that the check is run with, one after
	// another; nil if the check chooses for itself.
	Modes []Mode

	// Run returns nil if the driver behaves. The context ends when the
	// check has taken too long.
	Run func(ctx context.Context, e *Env) error
}

// A Mode is a way to connect: a method of Driver.
type Mode string

const (
	Dial  Mode = "dial"
	Share Mode = "share"
	Open  Mode = "open" // with poolSize connections
)

// poolSize is more than one, so that the connections of a pool can differ, and
// small, so that callers have to wait for one.
const poolSize = 3

var (
	anyMode    = []Mode{Dial, Share, Open}
	concurrent = []Mode{Share, Open}
)

// Checks returns all checks, in the order in which they are run: what is said,
// what is answered, what is connected, and what is left behind.
func Checks() []Check {
	var all []Check
	for _, some := range [][]Check{
		capabilityChecks, commandChecks, replyChecks, valueChecks,
		batchChecks, transactionChecks, serverChecks, concurrencyChecks,
		dialChecks, connectionChecks, contextChecks, faultChecks, closeChecks,
	} {
		all = append(all, some...)
	}
	return all
}

// Run runs every check on d, each as a subtest. Nothing else may use s
// meanwhile, because connections and calls are counted; auth, a server that
// asks for a password, may be used by others, and may be nil.
func Run(t *testing.T, d adapters.Driver, s, auth *target.Server) {
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			if reason, lacks := d.Lacks()[c.Needs]; lacks {
				t.Skipf("%s lacks %s: %s", d.Name(), c.Needs, reason)
			}
			if len(c.Modes) == 0 {
				run(t, c, &Env{Driver: d, Server: s, Auth: auth, Logf: t.Logf})
			}
			for _, m := range c.Modes {
				t.Run(string(m), func(t *testing.T) {
					if reason, lacks := d.Lacks()[adapters.CapMultiplex]; lacks && m == Share {
						t.Skipf("%s lacks %s: %s", d.Name(), adapters.CapMultiplex, reason)
					}
					run(t, c, &Env{Driver: d, Server: s, Auth: auth, Mode: m, Logf: t.Logf})
				})
			}
		})
	}
}

func run(t *testing.T, c Check, e *Env) {
	if err := c.Try(t.Context(), e); err != nil {
		t.Errorf("%s\n%s %s on %s: %s\n%v", c.Doc, e.Driver.Name(), e.Driver.Version(), e.serverName(), e.Mode, err)
	}
}

const (
	// tooLong ends a check that hangs. It is far above what a check takes
	// on a busy machine, and below the ten minutes after which go test
	// would end all of them without saying which.
	tooLong = 20 * time.Second

	// soon bounds what must happen without delay, like the end of a
	// command whose connection was closed. It is below the shortest
	// default timeout of any client (5 s), which must not be what helped.
	soon = 3 * time.Second

	// meanwhile is how long a check looks on while something must not
	// happen. A slow machine makes such a check miss a fault, never find
	// one where there is none.
	meanwhile = 40 * time.Millisecond
)

var tries atomic.Int64

// Try runs c in the mode of e, closes what it opened, and returns why the
// driver fails it, or nil. A check that hangs is an error that shows the
// stacks of its goroutines.
func (c Check) Try(ctx context.Context, e *Env) error {
	ctx, cancel := context.WithTimeout(ctx, tooLong)
	defer cancel()

	id := strconv.FormatInt(tries.Add(1), 10)
	e.prefix = "rcbench:adaptertest:" + id + ":"
	done := make(chan error, 1)
	go pprof.Do(ctx, pprof.Labels(tryLabel, id), func(ctx context.Context) {
		err := c.runRecovered(ctx, e)
		e.closeAll()
		done <- err
	})

	watchdog := time.NewTimer(tooLong + soon)
	defer watchdog.Stop()
	select {
	case err := <-done:
		return err
	case <-watchdog.C:
		stacks, err := goroutines(tryLabel, id)
		return errors.Join(fmt.Errorf("hangs: not done after %v\n%s", tooLong+soon, stacks), err)
	}
}

// runRecovered makes a panic of the driver an error, so that the other checks
// are run. One in another goroutine ends the program.
func (c Check) runRecovered(ctx context.Context, e *Env) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panics: %v\n%s", r, debug.Stack())
		}
	}()
	return c.Run(ctx, e)
}
