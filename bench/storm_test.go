package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"rcbench/adapters"
	"rcbench/bench/internal/corpus"
	"rcbench/bench/internal/meter"
	"rcbench/bench/internal/param"
	"rcbench/bench/internal/storm"
)

// BenchmarkStorm: one op is a storm of procs x goroutines x connects
// connections, each of which connects, sends one INCR and closes, all started at
// once: the experiment of PushAll, whose forks were the processes. Its 100 forks
// of 1000 connections are -procs=100 -connects=100; the default is a tenth of it,
// for those who run everything. -backlog shortens the queue of the server's
// listeners.
//
// ns/op is the time of the whole storm. Attempts that fail are no figure of
// speed: they are counted by class, and the line says how many there were. What
// makes the benchmark fail is a counter that does not add up: the increments
// that the server has must be at least those that were acknowledged, and at most
// those and the failed ones.
func BenchmarkStorm(b *testing.B) { connectStorm.run(b) }

var connectStorm = workload{
	Family: param.Family{
		Name:        "Storm",
		Conns:       []string{param.Fresh},
		Nets:        []string{"tcp", "unix"},
		Goroutines:  []int{10},
		Procs:       []int{1, 100},
		Connects:    []int{10},
		FreshSetups: stock,
	},
	claims: func(c param.Case) map[string]int64 {
		return map[string]int64{"incr": int64(c.Procs) * int64(c.Goroutines) * int64(c.Connects)}
	},
	crowd: func(ctx context.Context, s *session) (*crowd, error) {
		p := storm.Plan{
			Procs: s.Procs, Goroutines: s.Goroutines, Connects: s.Connects, Client: s.Driver.Name(),
			Key: corpus.Prefix + "storm:" + strconv.Itoa(os.Getpid()), Config: s.config, Stall: s.stallLimit(),
		}
		if s.config.TLS != nil {
			p.ServerName, p.CA = s.host.Root()
			p.TLS, p.Config.TLS = true, nil
		}
		processes, err := storm.Start(ctx, p)
		if err != nil {
			return nil, err
		}
		return &crowd{storm: processes, control: s.control, handshake: func() int64 { return s.freshErrors }}, nil
	},
	metrics: func(s *session) []meter.Metric { return s.crowd.metrics() },
}

// A crowd is the storms of a session, and what they did since reset.
type crowd struct {
	storm     *storm.Storm
	control   adapters.Client
	handshake func() int64 // error replies that a connection's handshake is known to have

	ops     int64
	elapsed time.Duration
	total   storm.Report
	present int64
	peak    int64 // of the latest storm
}

// conns are the connections that starting the processes made.
func (c *crowd) conns() int64 { return int64(c.storm.Procs) }

// reset forgets the storms so far.
func (c *crowd) reset() { *c = crowd{storm: c.storm, control: c.control, handshake: c.handshake} }

// op is one storm.
func (c *crowd) op() error {
	ctx := context.Background()
	if _, err := c.control.Del(ctx, c.storm.Key); err != nil {
		return err
	}
	r, err := c.storm.Run(ctx)
	if err != nil {
		return err
	}
	present, err := c.settled(ctx, r)
	if err != nil {
		return err
	}
	if err := addsUp(r.Acknowledged, r.Failed, present); err != nil {
		return err
	}
	c.ops++
	c.elapsed += r.Elapsed()
	c.present += present
	c.peak = r.Peak
	if err := c.total.Add(r); err != nil {
		return err
	}
	if r.Failed > 0 && r.Acknowledged == 0 {
		return fmt.Errorf("all %d attempts failed: %s", r.Failed, r.Example)
	}
	return nil
}

// addsUp says whether the increments that the server has may be those that were
// acknowledged, and of the failed ones any number.
func addsUp(acknowledged, failed, present int64) error {
	what, n := "", int64(0)
	switch {
	case present < acknowledged:
		what, n = "lost", acknowledged-present
	case present > acknowledged+failed:
		what, n = "too many", present-acknowledged-failed
	default:
		return nil
	}
	return fmt.Errorf("the counter does not add up: %d acknowledged, %d failed, %d present: %d %s", acknowledged, failed, present, n, what)
}

// settled is the counter on the server. Where attempts failed, an increment may
// still be on its way, so that it is read until it stands still: what is slow is
// told from what is lost.
func (c *crowd) settled(ctx context.Context, r *storm.Report) (int64, error) {
	const quiet, limit = 200 * time.Millisecond, 10 * time.Second
	last, since, start := int64(-1), time.Now(), time.Now()
	for {
		n := int64(0)
		text, err := c.control.Get(ctx, c.storm.Key)
		if err == nil {
			n, err = strconv.ParseInt(string(text), 10, 64)
		} else if errors.Is(err, adapters.ErrNil) {
			err = nil
		}
		if err != nil || n == r.Acknowledged+r.Failed {
			return n, err
		}
		if n != last {
			last, since = n, time.Now()
		}
		if time.Since(since) > quiet || time.Since(start) > limit {
			return n, nil
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// claim is what the server must have counted. Where attempts failed, how many of
// them reached the server is not known.
func (c *crowd) claim() (claim meter.Claim, cmds int64) {
	claim = meter.Claim{Commands: map[string]int64{"incr": c.present}, Conns: c.total.Acknowledged, Errors: c.total.Acknowledged * c.handshake()}
	if c.total.Failed > 0 {
		claim.Conns, claim.Errors = meter.Unknown, meter.Unknown
	}
	return claim, c.present
}

func (c *crowd) cpu() time.Duration { return c.total.CPU }
func (c *crowd) bytes() int64       { return c.total.Bytes }
func (c *crowd) mallocs() int64     { return c.total.Mallocs }

func (c *crowd) kill()  { c.storm.Kill() }
func (c *crowd) close() { c.storm.Close() }

// metrics are the three counters and the failures by class, each per storm, the
// time from before connecting until the reply, and the memory of all processes.
func (c *crowd) metrics() (list []meter.Metric) {
	if c.ops == 0 {
		return nil
	}
	add := func(v float64, unit string) { list = append(list, meter.Metric{Value: v, Unit: unit}) }
	perOp := func(n int64, unit string) { add(float64(n)/float64(c.ops), unit+"/op") }
	perOp(c.total.Acknowledged, "acknowledged")
	perOp(c.total.Failed, "failed")
	perOp(c.present, "present")
	for _, class := range storm.Classes() {
		perOp(c.total.Classes[class], string(class))
	}
	for _, p := range []float64{50, 90, 99, 99.9} {
		add(float64(c.total.Latencies().ValueAtPercentile(p)), fmt.Sprintf("p%v-latency-ns", p))
	}
	add(float64(c.total.Latencies().Max()), "max-latency-ns")
	add(float64(c.peak), "peak-rss-B")
	return list
}
