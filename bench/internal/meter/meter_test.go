package meter_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"rcbench/bench/internal/meter"
	"rcbench/internal/target"
)

// A counter is a server whose counters the test sets. As with a real one, a
// reading does not count itself and the next one does.
type counter struct {
	now      target.Counters
	readings int64
	err      error
}

func newCounter() *counter {
	return &counter{now: target.Counters{Calls: map[string]int64{}, Failed: map[string]int64{}}}
}

var _ meter.Source = (*counter)(nil)

func (c *counter) Counters(context.Context) (target.Counters, error) {
	if c.err != nil {
		return target.Counters{}, c.err
	}
	now := c.now
	now.Calls, now.Failed = maps.Clone(c.now.Calls), maps.Clone(c.now.Failed)
	now.Calls["info"] = c.readings
	now.Commands += c.readings
	now.Reads += c.readings + 1
	c.readings++
	return now, nil
}

func TestReadingIsTheDifference(t *testing.T) {
	s := newCounter()
	s.now.Calls["get"], s.now.Commands, s.now.Connections, s.now.CPU = 1000, 1000, 7, time.Second
	m, err := meter.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.now.Calls["get"], s.now.Commands, s.now.Connections, s.now.CPU = 1010, 1010, 9, 3*time.Second
	s.now.Calls["set"] = 4
	s.now.Failed["set"] = 1
	s.now.Reads = 5
	r, err := m.Stop(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !r.Verified {
		t.Error("not verified")
	}
	got := fmt.Sprint(r.Server.Calls, r.Server.Failed, r.Server.Commands, r.Server.Connections, r.Server.CPU, r.Server.Reads)
	if want := "map[get:10 set:4] map[set:1] 10 2 2s 5"; got != want {
		t.Errorf("the server did %s, want %s", got, want)
	}
}

// TestReadingMayBeTakenAgain: a session waits for the server to have counted
// its connections with one Start and many Stops.
func TestReadingMayBeTakenAgain(t *testing.T) {
	s := newCounter()
	m, err := meter.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(3) {
		s.now.Connections = i
		r, err := m.Stop(t.Context())
		if err != nil || r.Server.Connections != i {
			t.Errorf("reading %d: %d connections, %v; want %d", i, r.Server.Connections, err, i)
		}
	}
}

func TestServerThatDoesNotTell(t *testing.T) {
	s := newCounter()
	s.err = fmt.Errorf("target x: INFO: %w: NOPERM", target.ErrNoCounters)
	m, err := meter.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Stop(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Verified || r.Server.Commands != 0 || r.Server.Calls != nil {
		t.Errorf("reading %+v, want one that is not verified and has no counters", r)
	}
	if err := r.Check(meter.Claim{Commands: map[string]int64{"get": 5}, Conns: 3}); err != nil {
		t.Errorf("check: %v; there is nothing to check against", err)
	}
}

func TestServerThatFails(t *testing.T) {
	broken := errors.New("connection reset")
	s := newCounter()
	s.err = broken
	if _, err := meter.Start(t.Context(), s); !errors.Is(err, broken) {
		t.Errorf("start: error %v, want %v", err, broken)
	}
	s.err = nil
	m, err := meter.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.err = broken
	if r, err := m.Stop(t.Context()); !errors.Is(err, broken) || r.Verified {
		t.Errorf("stop: error %v, verified %v; want %v", err, r.Verified, broken)
	}
}

func TestCheck(t *testing.T) {
	claim := meter.Claim{Commands: map[string]int64{"get": 100, "set": 50}, Conns: 10, Errors: 20}
	// sound is a reading that agrees with the claim, and has what the claim
	// does not speak of.
	sound := func() meter.Reading {
		return meter.Reading{Verified: true, ClientCPU: time.Second, Server: target.Counters{
			Calls:       map[string]int64{"get": 100, "set": 50, "hello": 10, "ping": 3},
			Failed:      map[string]int64{"client|setinfo": 20},
			ErrorCodes:  map[string]int64{"ERR": 20},
			Commands:    163,
			Connections: 10,
			Refused:     1,
			Clients:     11,
			Errors:      20,
			InBytes:     1,
			OutBytes:    2,
			Reads:       -1,
		}}
	}
	tests := []struct {
		name   string
		change func(*meter.Reading)
		want   []string // the lines of the error
	}{
		{"agrees", func(*meter.Reading) {}, nil},
		{"one call too few", func(r *meter.Reading) { r.Server.Calls["get"] = 99 },
			[]string{"calls of GET: the server counted 99, claimed 100 (-1)"}},
		{"one call too many", func(r *meter.Reading) { r.Server.Calls["set"] = 51 },
			[]string{"calls of SET: the server counted 51, claimed 50 (+1)"}},
		{"no call", func(r *meter.Reading) { delete(r.Server.Calls, "get") },
			[]string{"calls of GET: the server counted 0, claimed 100 (-100)"}},
		{"a failed call", func(r *meter.Reading) { r.Server.Failed["get"] = 2 },
			[]string{"failed calls of GET: the server counted 2, claimed 0 (+2)"}},
		{"a connection too many", func(r *meter.Reading) { r.Server.Connections = 11 },
			[]string{"connections: the server counted 11, claimed 10 (+1)"}},
		{"a connection too few", func(r *meter.Reading) { r.Server.Connections = 0 },
			[]string{"connections: the server counted 0, claimed 10 (-10)"}},
		{"an error reply too many", func(r *meter.Reading) { r.Server.Errors = 21 },
			[]string{"error replies: the server counted 21, claimed 20 (+1)"}},
		{"an error reply too few", func(r *meter.Reading) { r.Server.Errors = 0 },
			[]string{"error replies: the server counted 0, claimed 20 (-20)"}},
		{"all of them", func(r *meter.Reading) {
			r.Server = target.Counters{Calls: map[string]int64{"get": 1, "set": 2}, Failed: map[string]int64{"get": 3, "set": 4}, Connections: 5, Errors: 6}
		}, []string{
			"calls of GET: the server counted 1, claimed 100 (-99)",
			"failed calls of GET: the server counted 3, claimed 0 (+3)",
			"calls of SET: the server counted 2, claimed 50 (-48)",
			"failed calls of SET: the server counted 4, claimed 0 (+4)",
			"connections: the server counted 5, claimed 10 (-5)",
			"error replies: the server counted 6, claimed 20 (-14)",
		}},
		{"other commands", func(r *meter.Reading) {
			r.Server.Calls["cluster|slots"], r.Server.Failed["ping"], r.Server.Commands = 5, 1, 1000
		}, nil},
		{"refused, bytes, CPU", func(r *meter.Reading) {
			r.Server.Refused, r.Server.InBytes, r.Server.CPU, r.ClientCPU = 9, 0, time.Hour, 0
		}, nil},
		{"failed calls not reported", func(r *meter.Reading) { r.Server.Failed = nil }, nil},
		{"not verified", func(r *meter.Reading) { *r = meter.Reading{} }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := sound()
			tt.change(&r)
			got := ""
			if err := r.Check(claim); err != nil {
				got = err.Error()
			}
			if want := strings.Join(tt.want, "\n"); got != want {
				t.Errorf("error\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestProcessCPUCountsThisProcess(t *testing.T) {
	before := meter.ProcessCPU()
	for start := time.Now(); meter.ProcessCPU() < before+5*time.Millisecond; {
		if time.Since(start) > 5*time.Second {
			t.Fatalf("%v of CPU after 5 s of work", meter.ProcessCPU()-before)
		}
	}
	m, err := meter.Start(t.Context(), newCounter())
	if err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); time.Since(start) < 10*time.Millisecond; {
	}
	r, err := m.Stop(t.Context())
	if err != nil || r.ClientCPU <= 0 || r.ClientCPU > time.Minute {
		t.Errorf("client CPU %v after 10 ms of work, %v", r.ClientCPU, err)
	}
}
