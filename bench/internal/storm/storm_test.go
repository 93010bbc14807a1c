package storm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"rcbench/adapters"
	"rcbench/adapters/resp"
	"rcbench/bench/internal/storm"
	"rcbench/internal/target"
)

func TestMain(m *testing.M) {
	target.Main()
	storm.Main(lookup)
	os.Exit(m.Run())
}

// lookup knows the floor client, and clients that go wrong at their third
// attempt: the first is the one before the storms.
func lookup(names ...string) ([]adapters.Driver, error) {
	faults := map[string]func() error{
		"resp":    func() error { return nil },
		"refused": func() error { return fmt.Errorf("dial: %w", syscall.ECONNREFUSED) },
		"crashes": func() error { fmt.Fprintln(os.Stderr, "boom"); os.Exit(3); return nil },
		"hangs":   func() error { time.Sleep(time.Hour); return nil },
	}
	fault, ok := faults[names[0]]
	if !ok {
		return nil, fmt.Errorf("unknown client %q", names[0])
	}
	return []adapters.Driver{&driver{Driver: resp.Driver, fault: fault}}, nil
}

type driver struct {
	adapters.Driver
	fault func() error
	dials int
}

func (d *driver) Dial(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	if d.dials++; d.dials == 3 {
		if err := d.fault(); err != nil {
			return nil, err
		}
	}
	return d.Driver.Dial(ctx, cfg)
}

// start starts a storm of 3 processes, 1 goroutine and 5 connections.
func start(t *testing.T, client string) (*target.Server, *storm.Storm, error) {
	t.Helper()
	server, err := target.Start(t.Context(), target.Options{Target: "miniredis"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	cfg, err := server.Config("unix")
	if err != nil {
		t.Fatal(err)
	}
	s, err := storm.Start(t.Context(), storm.Plan{
		Procs: 3, Goroutines: 1, Connects: 5, Client: client, Key: "rcbench:storm", Config: cfg, Stall: 3 * time.Second,
	})
	if s != nil {
		t.Cleanup(s.Close)
	}
	return server, s, err
}

func TestStormIsWhatTheServerCounted(t *testing.T) {
	t.Parallel()
	server, s, err := start(t, "resp")
	if err != nil {
		t.Fatal(err)
	}
	before, err := server.Counters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if before.Calls["incr"] != 3 {
		t.Errorf("%d increments before the first storm, want one of each process", before.Calls["incr"])
	}
	var total storm.Report
	for range 2 {
		r, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Acknowledged != 15 || r.Failed != 0 || r.Latencies().TotalCount() != 15 {
			t.Errorf("%d acknowledged, %d failed, %d latencies; want 15, 0, 15", r.Acknowledged, r.Failed, r.Latencies().TotalCount())
		}
		if r.Elapsed() <= 0 || r.CPU <= 0 || r.Mallocs <= 0 || r.Peak < 1<<20 {
			t.Errorf("elapsed %v, CPU %v, %d mallocs, peak of %d bytes; want all of them", r.Elapsed(), r.CPU, r.Mallocs, r.Peak)
		}
		if err := total.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	after, err := server.Counters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := after.Since(before); d.Calls["incr"] != total.Acknowledged || d.Connections != total.Acknowledged {
		t.Errorf("the server counted %d increments and %d connections, the storms %d", d.Calls["incr"], d.Connections, total.Acknowledged)
	}
}

func TestFailuresAreCountedByClass(t *testing.T) {
	t.Parallel()
	_, s, err := start(t, "refused")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Acknowledged != 12 || r.Failed != 3 || r.Classes[storm.Refused] != 3 || !strings.Contains(r.Example, "refused") {
		t.Errorf("%d acknowledged, %d failed, by class %v, such as %q; want 12, 3 refused", r.Acknowledged, r.Failed, r.Classes, r.Example)
	}
}

func TestProcessesThatGoWrong(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]string{
		"jedis":   `unknown client "jedis"`,
		"crashes": "boom",
		"hangs":   "given up after 3s",
	} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			_, s, err := start(t, client)
			if err == nil {
				_, err = s.Run(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		})
	}
}

func TestCancelledStormEnds(t *testing.T) {
	t.Parallel()
	_, s, err := start(t, "hangs")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := s.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// TestConfigArrivesWhole: a new field of Config must not be left behind.
func TestConfigArrivesWhole(t *testing.T) {
	if n := reflect.TypeFor[adapters.Config]().NumField(); n != 11 {
		t.Errorf("adapters.Config has %d fields; a message carries 10, and TLS by itself", n)
	}
}

func TestHint(t *testing.T) {
	fork := func(errno syscall.Errno) error {
		return fmt.Errorf("storm: starting process 3 of 9: %w", &fs.PathError{Op: "fork/exec", Path: "bench.test", Err: errno})
	}
	for _, tt := range []struct {
		err  error
		want string // "" for no hint
	}{
		{fork(syscall.EMFILE), "ulimit -n"},
		{fmt.Errorf("storm: starting process 3 of 9: %w", os.NewSyscallError("pipe2", syscall.ENFILE)), "ulimit -n"},
		{fork(syscall.EAGAIN), "ulimit -u"},
		{fork(syscall.EACCES), ""},
		{fmt.Errorf("dial: %w", syscall.EAGAIN), ""},
	} {
		got := storm.Hint(tt.err, 9)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || got != "" && !strings.Contains(got, "9 processes") {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want storm.Class
	}{
		{fmt.Errorf("dial: %w", syscall.ECONNREFUSED), storm.Refused},
		{errors.New("dial tcp: connect: connection refused"), storm.Refused},
		{fmt.Errorf("dial: %w", syscall.EAGAIN), storm.Again}, // which is a Timeout() too
		{errors.New("dial unix /x: connect: resource temporarily unavailable"), storm.Again},
		{fmt.Errorf("read: %w", syscall.ECONNRESET), storm.Reset},
		{fmt.Errorf("write: %w", syscall.EPIPE), storm.Reset},
		{fmt.Errorf("dial: %w", syscall.ETIMEDOUT), storm.Timeout},
		{fmt.Errorf("read: %w", os.ErrDeadlineExceeded), storm.Timeout},
		{context.DeadlineExceeded, storm.Timeout},
		{fmt.Errorf("read: %w", io.EOF), storm.Gone},
		{errors.New("redis: client is closed"), storm.Gone},
		{adapters.ReplyError("ERR max number of clients reached"), storm.Full},
		{fmt.Errorf("dial: %w", syscall.EADDRNOTAVAIL), storm.Ports},
		{fmt.Errorf("dial: %w", syscall.EMFILE), storm.Files},
		{errors.New("WRONGTYPE"), storm.Other},
	} {
		if got := storm.Classify(tt.err); got != tt.want {
			t.Errorf("%v is %s, want %s", tt.err, got, tt.want)
		}
	}
	seen := map[storm.Class]bool{}
	for _, c := range storm.Classes() {
		if seen[c] || c == "" {
			t.Errorf("class %q twice", c)
		}
		seen[c] = true
	}
}
