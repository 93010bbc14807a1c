// Package storm runs connection storms: many processes which at one moment
// begin to connect, INCR and close, again and again.
//
//	s, err := storm.Start(ctx, plan)   the processes, each with one connection made
//	r, err := s.Run(ctx)               one storm; again and again
//	s.Close()
//
// Note: the processes stay for the next storm and are not started by it. What a
// storm measures is the server and the client's connecting, and not how long a
// Go program takes to start.
//
// Note: the gate is a moment of the clock, which all processes know beforehand,
// and not a message: a hundred pipes are written one after another.
package storm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"rcbench/adapters"
)

// A Plan says what a storm is. Key is incremented, and is the storm's own.
type Plan struct {
	Procs      int // processes
	Goroutines int // of each
	Connects   int // connections that each goroutine makes, one after another
	Client     string
	Key        string

	// Config is how to connect, but for its TLS, which does not go through a
	// pipe: that is TLS, with a certificate for ServerName that CA (PEM; empty
	// for the system's) vouches for.
	Config     adapters.Config `json:"-"`
	TLS        bool
	ServerName string
	CA         string

	Stall time.Duration // after which a storm, or the start of the processes, is given up
}

// Attempts is how many connections a storm tries to make.
func (p Plan) Attempts() int64 { return int64(p.Procs) * int64(p.Goroutines) * int64(p.Connects) }

// A Report is what one process saw, or all of them together.
type Report struct {
	Error        string // why the process cannot take part
	Unsupported  bool   // Error is adapters.ErrUnsupported
	First, Last  int64  // start and end, in ns since 1970
	Acknowledged int64  // increments whose reply was read
	Failed       int64  // attempts that ended in an error
	Classes      map[Class]int64
	Example      string // an error
	CPU          time.Duration
	Bytes        int64 // allocated
	Mallocs      int64
	Peak         int64  // largest resident memory of the process so far, in bytes
	Latency      []byte // of acknowledged increments, connecting included, encoded

	latencies *hdrhistogram.Histogram
}

// Elapsed is from the start of the first process to the end of the last.
func (r *Report) Elapsed() time.Duration { return time.Duration(r.Last - r.First) }

// Latencies are the times of the acknowledged increments, from before
// connecting until the reply was read, in ns.
func (r *Report) Latencies() *hdrhistogram.Histogram { return r.latencies }

// Add adds what another process, or another storm, did.
func (r *Report) Add(o *Report) error {
	if r.First == 0 || o.First < r.First {
		r.First = o.First
	}
	r.Last = max(r.Last, o.Last)
	r.Acknowledged += o.Acknowledged
	r.Failed += o.Failed
	if r.Classes == nil {
		r.Classes = map[Class]int64{}
	}
	for class, n := range o.Classes {
		r.Classes[class] += n
	}
	if r.Example == "" {
		r.Example = o.Example
	}
	r.CPU += o.CPU
	r.Bytes += o.Bytes
	r.Mallocs += o.Mallocs
	r.Peak += o.Peak
	if r.latencies == nil {
		r.latencies = newLatencies()
	}
	if o.latencies == nil && o.Latency == nil {
		return nil // of a process that has only got ready
	}
	if o.latencies == nil {
		var err error
		if o.latencies, err = hdrhistogram.Decode(o.Latency); err != nil {
			return err
		}
	}
	r.latencies.Merge(o.latencies)
	return nil
}

// newLatencies has two significant digits from 1 us to two minutes.
func newLatencies() *hdrhistogram.Histogram { return hdrhistogram.New(1e3, 120e9, 2) }

// A Storm is a set of processes that wait for the next Run.
type Storm struct {
	Plan
	procs []*process
}

type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	reports *json.Decoder
	log     strings.Builder
	wait    sync.Once
}

// A message is a Plan on its way to a process.
type message struct {
	Plan
	Network, Addr, Username, Password string
	DB, Protocol                      int
	Setup                             adapters.Setup
	Lazy                              bool
	DialTimeout, IOTimeout            time.Duration
}

func wire(p Plan) message {
	c := p.Config
	return message{p, c.Network, c.Addr, c.Username, c.Password, c.DB, c.Protocol, c.Setup, c.Lazy, c.DialTimeout, c.IOTimeout}
}

// plan is the Plan of a message.
func (m message) plan() Plan {
	p := m.Plan
	p.Config = adapters.Config{
		Network: m.Network, Addr: m.Addr, Username: m.Username, Password: m.Password, DB: m.DB,
		Protocol: m.Protocol, Setup: m.Setup, Lazy: m.Lazy, DialTimeout: m.DialTimeout, IOTimeout: m.IOTimeout,
	}
	return p
}

// env makes Main take the part of a process of a storm.
const env = "RCBENCH_STORM"

// order tells a process to get ready, with Start 0, or when to begin.
type order struct{ Start int64 } // ns since 1970

// Start starts the processes; each has made one connection when it returns, so
// that it has no part of the program still to load. After an error none is
// left.
func Start(ctx context.Context, p Plan) (*Storm, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &Storm{Plan: p}
	plan, err := json.Marshal(wire(p))
	if err != nil {
		return nil, err
	}
	for range p.Procs {
		proc := &process{cmd: exec.Command(self)}
		proc.cmd.Env = append(os.Environ(), env+"=1")
		proc.cmd.Stderr = &proc.log
		proc.in, err = proc.cmd.StdinPipe()
		if err == nil {
			var out io.ReadCloser
			if out, err = proc.cmd.StdoutPipe(); err == nil {
				proc.reports = json.NewDecoder(out)
				err = proc.cmd.Start()
			}
		}
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("storm: starting process %d of %d: %w", len(s.procs)+1, p.Procs, err)
		}
		s.procs = append(s.procs, proc)
		if _, err := proc.in.Write(append(plan, '\n')); err != nil {
			return nil, s.fail(len(s.procs)-1, err)
		}
	}
	if _, err := s.await(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// await gathers a report of each process, for as long as ctx and Stall allow.
func (s *Storm) await(ctx context.Context) (*Report, error) {
	limited, cancel := ctx, func() {}
	if s.Stall > 0 {
		limited, cancel = context.WithTimeout(ctx, s.Stall)
	}
	defer cancel()
	stop := context.AfterFunc(limited, s.Kill)
	defer stop()
	r, err := s.gather()
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	case limited.Err() != nil:
		err = fmt.Errorf("given up after %v: %w", s.Stall, err)
	}
	return r, err
}

// tell sends an order to every process.
func (s *Storm) tell(o order) error {
	for i, p := range s.procs {
		if err := json.NewEncoder(p.in).Encode(o); err != nil {
			return s.fail(i, err)
		}
	}
	return nil
}

// Run lets one storm loose and returns what all processes saw. It gives up when
// ctx is done, after which the Storm can only be closed. Run and Close are for
// one goroutine.
func (s *Storm) Run(ctx context.Context) (*Report, error) {
	if err := s.tell(order{}); err != nil {
		return nil, err
	}
	if _, err := s.await(ctx); err != nil {
		return nil, err
	}
	// All have collected their garbage and wait. The moment is far enough away
	// for the last to hear of it.
	start := time.Now().Add(10*time.Millisecond + time.Duration(s.Procs)*100*time.Microsecond)
	if err := s.tell(order{Start: start.UnixNano()}); err != nil {
		return nil, err
	}
	r, err := s.await(ctx)
	if err == nil && r.Acknowledged+r.Failed != s.Attempts() {
		err = fmt.Errorf("storm: %d acknowledged and %d failed are not the %d attempts", r.Acknowledged, r.Failed, s.Attempts())
	}
	return r, err
}

// gather reads one report of each process.
func (s *Storm) gather() (*Report, error) {
	total := &Report{}
	for i, p := range s.procs {
		var r Report
		if err := p.reports.Decode(&r); err != nil {
			return nil, s.fail(i, err)
		}
		if r.Error != "" {
			err := fmt.Errorf("storm: process %d of %d: %s", i+1, s.Procs, r.Error)
			if r.Unsupported {
				err = fmt.Errorf("%w (%w)", err, adapters.ErrUnsupported)
			}
			s.Kill() // the reports of the others are not wanted, now or later
			s.Close()
			return nil, err
		}
		if err := total.Add(&r); err != nil {
			return nil, s.fail(i, err)
		}
	}
	return total, nil
}

// fail ends the processes and says why one of them could not go on.
func (s *Storm) fail(i int, err error) error {
	s.Kill()
	s.Close()
	p := s.procs[i]
	return fmt.Errorf("storm: process %d of %d: %w", i+1, s.Procs, errors.Join(err, errors.New(strings.TrimSpace(p.cmd.ProcessState.String()+" "+p.log.String()))))
}

// Kill ends the processes at once. It may be called by any goroutine.
func (s *Storm) Kill() {
	for _, p := range s.procs {
		p.cmd.Process.Kill()
	}
}

// Close ends the processes, which end with their standard input, and waits for
// them.
func (s *Storm) Close() {
	for _, p := range s.procs {
		p.in.Close()
	}
	timer := time.AfterFunc(5*time.Second, s.Kill)
	defer timer.Stop()
	for _, p := range s.procs {
		p.wait.Do(func() { p.cmd.Wait() })
	}
}
