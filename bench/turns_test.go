package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"

	"rcbench/adapters"
	"rcbench/bench/internal/drive"
	"rcbench/bench/internal/meter"
	"rcbench/bench/internal/param"
	"rcbench/bench/internal/turns"
)

var takeTurns = flag.Bool(turns.Flag, false, "take turns under the command rcbench; not for use by hand")

// families lists every workload; a test holds it against the Benchmark
// functions.
var families = []workload{
	connectIncr, connectStorm, custom, get, getAsync, getPipeline, hashFill, hset, incr, listFill, lpop, lpush, lrange,
	mixed, mset, ping, request, rpop, rpush, sadd, set, setFill, setGet, setStrlen, spop, zadd, zpopmin, zsetFill,
}

// arm is the test binary as one arm of a comparison. It has the bodies, the
// connections and the checks of replies; the counters of the server, which
// all arms share, are read by the command between the turns.
type arm struct {
	match   func(name string) bool
	session *session
	crew    *drive.Crew
}

var _ turns.Handler = (*arm)(nil)

func (a *arm) List() (*turns.List, error) {
	l := &turns.List{Version: turns.Version, Procs: runtime.GOMAXPROCS(0)}
	for _, d := range flags.Drivers {
		l.Clients = append(l.Clients, turns.Client{Name: d.Name(), Version: d.Version()})
	}
	for _, w := range families {
		for _, c := range w.Cases(flags) {
			full := w.full(c)
			if a.match(full) {
				group, _, _ := strings.Cut(full, "/client=")
				l.Cases = append(l.Cases, turns.Case{Name: full, Group: group, Client: c.Driver.Name(), Skip: c.Skip()})
			}
		}
	}
	return l, nil
}

func (w workload) full(c param.Case) string { return "Benchmark" + w.Name + "/" + c.Name() }

func (a *arm) Open(name string) (*turns.Opened, error) {
	if a.session != nil {
		return nil, fmt.Errorf("open %s: %s is open", name, a.session.full(a.session.Case))
	}
	for _, w := range families {
		for _, c := range w.Cases(flags) {
			if w.full(c) == name {
				return a.open(&session{workload: w, Case: c, host: server})
			}
		}
	}
	return nil, fmt.Errorf("open %s: no such case", name)
}

func (a *arm) open(s *session) (*turns.Opened, error) {
	if err := s.open(context.Background()); err != nil {
		s.close()
		if errors.Is(err, adapters.ErrUnsupported) {
			return &turns.Opened{Skip: err.Error()}, nil
		}
		return nil, s.explain(err)
	}
	a.session = s
	a.crew = drive.NewCrew(s.ops, drive.Options{Abort: s.abort, StallLimit: s.stallLimit()})
	claim, _ := s.claim(1)
	return &turns.Opened{
		Workers: len(s.ops), Stall: s.stallLimit(), Prepares: s.prepare != nil,
		Claim: turns.Claim(claim),
	}, nil
}

func (a *arm) Prepare(ops int64) error {
	if a.session == nil {
		return errors.New("prepare: no case is open")
	}
	return a.session.explain(a.session.prepared(context.Background(), ops))
}

func (a *arm) Turn(ops int64) (*turns.Outcome, error) {
	if a.session == nil {
		return nil, errors.New("turn: no case is open")
	}
	a.crew.Ready()
	if a.session.crowd != nil {
		a.session.crowd.reset()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := meter.ProcessCPU()
	result, err := a.crew.Turn(ops)
	a.session.ended()
	if err != nil {
		return nil, a.session.explain(err)
	}
	cpu = meter.ProcessCPU() - cpu
	runtime.ReadMemStats(&after)
	o := &turns.Outcome{
		Elapsed: result.Elapsed,
		CPU:     cpu,
		Bytes:   int64(after.TotalAlloc - before.TotalAlloc),
		Mallocs: int64(after.Mallocs - before.Mallocs),
		Idle:    result.IdleTail,
	}
	if c := a.session.crowd; c != nil {
		o.Elapsed, o.CPU, o.Bytes, o.Mallocs = c.elapsed, c.cpu(), c.bytes(), c.mallocs()
		claim, _ := c.claim()
		o.Claim = (*turns.Claim)(&claim)
	}
	for _, m := range a.session.own() {
		o.Metrics = append(o.Metrics, turns.Metric(m))
	}
	return o, nil
}

func (a *arm) Close() error {
	if a.session == nil {
		return nil
	}
	a.crew.Stop()
	err := a.session.prepared(context.Background(), 0)
	a.session.close()
	a.session, a.crew = nil, nil
	runtime.GC() // the next case does not pay for this one's garbage
	return err
}

// serveTurns is run for a process that is an arm. Ctrl-C in a terminal reaches
// every process of the group; it is the command that decides what it means.
func serveTurns(pattern string) error {
	signal.Ignore(os.Interrupt)
	match, err := param.Match(pattern)
	if err != nil {
		return err
	}
	return turns.Serve(&arm{match: match}, os.Stdin, os.Stdout)
}
