package bench

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rcbench/adapters/all"
	"rcbench/bench/internal/fingerprint"
	"rcbench/bench/internal/meter"
	"rcbench/bench/internal/param"
	"rcbench/bench/internal/storm"
	"rcbench/internal/target"
)

// What one process shares: its flags, the server under test, and what became
// of the cases.
var (
	flags  = param.Register(flag.CommandLine)
	server *target.Server
	tally  struct {
		measured, skipped, failed atomic.Int64
		harness                   atomic.Bool // BenchmarkHarness ran, which measures no client
	}
)

func TestMain(m *testing.M) {
	target.Main()
	storm.Main(all.Lookup)
	flag.Parse()
	os.Exit(run(m))
}

// run is TestMain with deferred calls.
func run(m *testing.M) (code int) {
	if err := flags.Resolve(all.Drivers()); err != nil {
		fmt.Fprintf(os.Stderr, "rcbench: %v\n", err)
		return 2
	}
	pattern := flag.Lookup("test.bench").Value.String()
	if (pattern == "" && !*takeTurns) || flag.Lookup("test.list").Value.String() != "" {
		return m.Run()
	}
	if tests := flag.Lookup("test.run"); tests.Value.String() == "" {
		tests.Value.Set("^$") // see package comment
	}

	// testing.B cannot be interrupted, so a signal ends the process here, once
	// the server is closed.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	server, err = target.Start(ctx, target.Options{
		Target: flags.Target, TLS: flags.TLS(), Password: flags.Password(), Backlog: flags.Backlog,
	})
	if ctx.Err() != nil {
		return 130
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "rcbench: %v\n", err)
		return 1
	}
	defer func() {
		if err := server.Close(); err != nil { // a guest's keys may be left
			fmt.Fprintf(os.Stderr, "rcbench: %v\n", err)
			code = max(code, 1)
		}
	}()
	running := context.AfterFunc(ctx, func() {
		stop() // a second signal ends the process at once
		time.AfterFunc(5*time.Second, func() { os.Exit(130) })
		server.Close()
		os.Exit(130)
	})
	defer running()
	if err := flags.Fits(server); err != nil {
		fmt.Fprintf(os.Stderr, "rcbench: %v\n", err)
		return 2
	}
	flags.Limit(server.Nets(), server.Foreign())
	if *takeTurns {
		if err := serveTurns(pattern); err != nil {
			fmt.Fprintf(os.Stderr, "rcbench: %v\n", err)
			return 1
		}
		return 0
	}
	configuration(ctx)
	return verdict(m.Run(), pattern)
}

// configuration prints what every line of this process has in common. The
// lines are the same for every client and for every version of one, because
// benchstat does not compare across lines that differ.
func configuration(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	fmt.Printf("server: %s\n", server.Describe())
	fmt.Printf("verified: %s\n", meter.Verified(ctx, server))
	if server.Miniredis() {
		fmt.Printf("warning: %s\n", target.MiniredisWarning)
	}
	fmt.Printf("go: %s\n", runtime.Version())
	if flags.Command != nil {
		fmt.Printf("cmd: %q\n", flags.Command)
	}
	if flags.Fingerprint {
		fmt.Printf("fingerprint: %s\n", fingerprint.Line(fingerprint.Take(ctx, server)))
	}
	fmt.Print(meter.Units, meter.OwnUnits)
	// Not "key: value", so that it does not split benchstat's tables.
	for _, d := range flags.Drivers {
		fmt.Printf("# client %s %s\n", d.Name(), d.Version())
	}
}

// verdict turns what testing.B forgets into an exit code: a failure in a
// repetition after the first ends in PASS, and a selection that matches
// nothing does too.
func verdict(code int, pattern string) int {
	switch failed, measured, skipped := tally.failed.Load(), tally.measured.Load(), tally.skipped.Load(); {
	case failed > 0:
		fmt.Fprintf(os.Stderr, "rcbench: %d benchmark runs failed\n", failed)
		return max(code, 1)
	case code != 0:
		return code
	case measured == 0 && skipped > 0:
		fmt.Fprintf(os.Stderr, "rcbench: nothing was measured: each of the %d selected cases is one that its client cannot run\n", skipped)
		return 1
	case measured == 0 && !tally.harness.Load():
		fmt.Fprintf(os.Stderr, "rcbench: nothing was measured: no case matches -bench=%s with these flags%s\n", pattern, flags.Hint(pattern))
		return 1
	}
	return code
}
