// Package meter says what one run cost, and holds the run's claim against the
// server's own counters: a run is believed only if the server agrees.
//
//	before := meter.Start(...)     outside the timer
//	... b.N ops ...
//	reading := m.Stop()
//	reading.Check(claim)           a difference fails the benchmark
//	reading.Report(b, ...)
package meter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rcbench/internal/target"
)

// A Source is a server that counts.
type Source interface {
	Counters(context.Context) (target.Counters, error)
}

// A Meter is a measurement that is under way.
type Meter struct {
	source   Source
	counters target.Counters
	cpu      time.Duration
	verified bool
}

// Start takes the first reading. A server that refuses to tell its counters
// (target.ErrNoCounters) is no error: the Reading is then not Verified.
func Start(ctx context.Context, s Source) (*Meter, error) {
	m := &Meter{source: s}
	var err error
	m.counters, m.verified, err = read(ctx, s)
	m.cpu = ProcessCPU()
	return m, err
}

// Stop takes the second reading.
func (m *Meter) Stop(ctx context.Context) (Reading, error) {
	r := Reading{ClientCPU: ProcessCPU() - m.cpu}
	if !m.verified {
		return r, nil
	}
	after, ok, err := read(ctx, m.source)
	if err != nil || !ok {
		return r, err
	}
	r.Server, r.Verified = after.Since(m.counters), true
	return r, nil
}

// Verified is the value of the configuration line that says whether the server
// tells its counters, or why not.
func Verified(ctx context.Context, s Source) string {
	if _, err := s.Counters(ctx); err != nil {
		return "no: " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	return "by the server's counters"
}

func read(ctx context.Context, s Source) (c target.Counters, ok bool, err error) {
	c, err = s.Counters(ctx)
	if errors.Is(err, target.ErrNoCounters) {
		return c, false, nil
	}
	return c, err == nil, err
}

// A Reading is what one run cost.
type Reading struct {
	Verified  bool            // the server told its counters
	Server    target.Counters // the difference over the run
	ClientCPU time.Duration   // user and system time of this process
}

// A Claim is what the benchmark says that it did.
type Claim struct {
	Commands map[string]int64 // calls by lower-case command name
	Conns    int64            // connections opened, or Unknown
	Errors   int64            // error replies of the handshakes of these connections, or Unknown
}

// Unknown is a count that the benchmark cannot claim.
const Unknown = -1

// Check returns an error with both numbers for every count in which server and
// claim differ. Commands that are not in the claim are not looked at: they are
// the client's handshake and background traffic, which cmds/op shows.
func (r Reading) Check(c Claim) error {
	if !r.Verified {
		return nil
	}
	var errs []error
	compare := func(what string, server, claimed int64) {
		if server != claimed {
			errs = append(errs, fmt.Errorf("%s: the server counted %d, claimed %d (%+d)",
				what, server, claimed, server-claimed))
		}
	}
	names := make([]string, 0, len(c.Commands))
	for name := range c.Commands {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		compare("calls of "+strings.ToUpper(name), r.Server.Calls[name], c.Commands[name])
		compare("failed calls of "+strings.ToUpper(name), r.Server.Failed[name], 0)
	}
	if c.Conns != Unknown {
		compare("connections", r.Server.Connections, c.Conns)
	}
	if r.Server.Errors >= 0 && c.Errors != Unknown { // Redis counts them since 6.2
		compare("error replies", r.Server.Errors, c.Errors)
	}
	return errors.Join(errs...)
}

// A Metric is a figure of a workload's own, with its unit as package testing
// spells it.
type Metric struct {
	Value float64
	Unit  string
}

// Scale says what the figures are divided by.
type Scale struct {
	Ops     int64         // b.N
	Cmds    int64         // measured commands
	Elapsed time.Duration // of the timer
	Idle    float64       // drive.Result.IdleTail
}

// Report adds the metrics of the run to b: cmds/s, and with all those of CPU,
// traffic and connections. It comes last, since b.ResetTimer clears metrics.
func (r Reading) Report(b *testing.B, s Scale, all bool) {
	b.ReportMetric(float64(s.Cmds)/s.Elapsed.Seconds(), "cmds/s")
	if !all {
		return
	}
	perOp := func(v float64, unit string) { b.ReportMetric(v/float64(s.Ops), unit) }
	perOp(float64(r.ClientCPU), "client-cpu-ns/op")
	b.ReportMetric(100*s.Idle, "idle-%")
	if !r.Verified {
		return
	}
	for _, m := range []struct {
		count int64 // negative where the server does not count it
		unit  string
	}{
		{int64(r.Server.CPU), "server-cpu-ns/op"},
		{r.Server.Commands, "cmds/op"},
		{r.Server.Connections, "conns/op"},
		{r.Server.Errors, "errs/op"},
		{r.Server.InBytes, "sent-B/op"},
		{r.Server.OutBytes, "recv-B/op"},
		{r.Server.Reads, "reads/op"},
	} {
		if m.count >= 0 {
			perOp(float64(m.count), m.unit)
		}
	}
}

// Units are the lines that tell benchstat which direction is better.
const Units = `Unit cmds/s better=higher
Unit ns/op better=lower
Unit B/op better=lower
Unit allocs/op better=lower
Unit client-cpu-ns/op better=lower
Unit server-cpu-ns/op better=lower
Unit cmds/op better=lower
Unit conns/op better=lower
Unit errs/op better=lower
Unit sent-B/op better=lower
Unit recv-B/op better=lower
Unit reads/op better=lower
Unit idle-% better=lower
`

// OwnUnits is the same for the figures of workloads.
const OwnUnits = `Unit get-latency-ns better=lower
Unit p50-get-latency-ns better=lower
Unit p99-get-latency-ns better=lower
Unit set-latency-ns better=lower
Unit p50-set-latency-ns better=lower
Unit p99-set-latency-ns better=lower
Unit acknowledged/op better=higher
Unit failed/op better=lower
Unit present/op better=higher
Unit refused/op better=lower
Unit reset/op better=lower
Unit eagain/op better=lower
Unit timeout/op better=lower
Unit gone/op better=lower
Unit full/op better=lower
Unit ports/op better=lower
Unit files/op better=lower
Unit others/op better=lower
Unit p50-latency-ns better=lower
Unit p90-latency-ns better=lower
Unit p99-latency-ns better=lower
Unit p99.9-latency-ns better=lower
Unit max-latency-ns better=lower
Unit peak-rss-B better=lower
`
