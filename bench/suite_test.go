package bench

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"rcbench/adapters"
	"rcbench/adapters/all"
	"rcbench/bench/internal/param"
	"rcbench/internal/target"
)

// suite runs this test binary as a user does, with a limit on its time, and
// returns what it printed and its exit code.
func suite(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%v: still running after 3 minutes\n%s%s", args, out.Bytes(), errs.Bytes())
	}
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// servers are the targets that the suite is tested on: miniredis, and a real
// server where there is one.
func servers(t *testing.T) []string {
	list := []string{"miniredis"}
	for _, name := range []string{"redis-server", "valkey-server"} {
		if _, err := exec.LookPath(name); err == nil {
			return append(list, name)
		}
	}
	if os.Getenv(target.EnvRequireServer) != "" {
		t.Errorf("%s is set, but PATH has neither redis-server nor valkey-server", target.EnvRequireServer)
	} else {
		t.Logf("SKIP the real server: PATH has neither redis-server nor valkey-server")
	}
	return list
}

// TestEveryCaseRuns runs the whole default matrix once: each case has a line,
// or a client that cannot run it and says why. With -short every workload writes
// few keys and members, and the real server has few goroutines.
func TestEveryCaseRuns(t *testing.T) {
	for _, server := range servers(t) {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			// Of a storm of a hundred processes there is nothing to learn here
			// that one of two does not show.
			own := []string{"-procs=2", "-connects=5", "-cmd=ZADD rcbench:board __rand__ __key__"}
			if testing.Short() {
				own = append(own, "-keys=20", "-members=50", "-keyspace=1,1000")
			}
			if testing.Short() && server != "miniredis" {
				own = append(own, "-goroutines=2")
			}
			args := append([]string{"-test.bench=.", "-test.benchtime=1x", "-target=" + server, "-metrics=all"}, own...)
			flags := parsed(t, own...)
			stdout, stderr, code := suite(t, nil, args...)
			if code != 0 {
				t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
			}
			lines, skips := read(t, stdout)
			for _, w := range families {
				for _, c := range w.Cases(flags) {
					name := w.full(c)
					why, skipped := skips[name]
					line, ran := lines[strings.TrimPrefix(name, "Benchmark")]
					switch {
					case skipped && c.Skip() == "" && server == "miniredis" && stockIsTooMuch(c):
						if !strings.Contains(why, adapters.ErrUnsupported.Error()) {
							t.Errorf("%s: skipped with %q", name, why)
						}
					case skipped && why != c.Skip():
						t.Errorf("%s: skipped with %q, want %q", name, why, c.Skip())
					case !skipped && !ran:
						t.Errorf("%s: neither a line nor a skip", name)
					case ran:
						checkLine(t, name, line, c)
					}
				}
			}
			if !strings.Contains(stdout, "\nverified: by the server's counters\n") {
				t.Error("the output does not say that the counters verified it")
			}
			if warned := strings.Contains(stdout, "\nwarning: "+target.MiniredisWarning+"\n"); warned != (server == "miniredis") {
				t.Errorf("warning of miniredis printed: %v", warned)
			}
		})
	}
}

// TestEveryWorkloadRunsAgainAndAgain: testing.B calls a benchmark with a growing
// b.N, and -count repeats it, on the same connections and keys.
func TestEveryWorkloadRunsAgainAndAgain(t *testing.T) {
	for _, server := range servers(t) {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			own := []string{"-procs=2", "-connects=2", "-goroutines=2", "-keys=3", "-members=5", "-keyspace=7", "-loops=2", "-depths=2", "-cmd=GET __key__"}
			stdout, stderr, code := suite(t, nil, append(own, "-test.bench=.", "-test.benchtime=3x", "-test.count=2", "-clients=resp,goredis", "-setup=lean", "-target="+server)...)
			if code != 0 {
				t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
			}
			lines, skips := read(t, stdout)
			flags := parsed(t, append(own, "-clients=resp,goredis", "-setup=lean")...)
			for _, w := range families {
				for _, c := range w.Cases(flags) {
					name := w.full(c)
					if _, ran := lines[strings.TrimPrefix(name, "Benchmark")]; !ran && skips[name] == "" {
						t.Errorf("%s: neither a line nor a skip", name)
					}
				}
			}
		})
	}
}

// TestNothingIsPrintedIntoALine: notes and skips stay out of the lines, also in
// repetitions.
func TestNothingIsPrintedIntoALine(t *testing.T) {
	stdout, stderr, code := suite(t, nil, "-test.bench=^Benchmark(Set|Get|GetPipeline)$", "-test.benchtime=5x", "-test.count=3",
		"-target=miniredis", "-clients=resp,radix", "-conns=own,shared", "-goroutines=2", "-loops=1,2", "-depths=3", "-values=1KiB")
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	read(t, stdout) // complains of lines that are none
	lines := 0
	for line := range strings.Lines(stdout) {
		if strings.HasPrefix(line, "Benchmark") {
			lines++
		}
	}
	// Set: 2 clients x 2 loops; Get: 2 own and 1 shared x 2; GetPipeline: 3.
	if want := 3 * (4 + 6 + 3); lines != want {
		t.Errorf("%d lines, want %d\n%s", lines, want, stdout)
	}
	if n := strings.Count(stdout, "# note: BenchmarkSet does not use -depths\n"); n != 1 {
		t.Errorf("the note on Set is printed %d times, want once\n%s", n, stdout)
	}
}

// stockIsTooMuch lists the cases that miniredis cannot serve: what these
// clients ship as their default turns on client-side caching, for which it has
// no CLIENT TRACKING.
func stockIsTooMuch(c param.Case) bool {
	return c.Setup == adapters.Stock && slices.Contains([]string{"rueidis", "rueidiscompat", "valkey"}, c.Driver.Name())
}

// parsed are the flags that the suite makes of args.
func parsed(t *testing.T, args ...string) *param.Flags {
	t.Helper()
	fs := flag.NewFlagSet(t.Name(), flag.ContinueOnError)
	f := param.Register(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := f.Resolve(all.Drivers()); err != nil {
		t.Fatal(err)
	}
	return f
}

// checkLine holds the metrics of a line, with units as benchfmt tidies them,
// against what its name promises.
func checkLine(t *testing.T, name string, r *benchfmt.Result, c param.Case) {
	units := []string{"B/op", "allocs/op"}
	if c.Procs > 1 {
		units = []string{"acknowledged/op", "failed/op", "present/op", "p99-latency-sec", "peak-rss-B"}
	}
	for _, unit := range append(units, "sec/op", "cmds/s", "client-cpu-sec/op", "server-cpu-sec/op", "cmds/op", "errs/op", "sent-B/op", "recv-B/op", "idle-%") {
		if _, ok := r.Value(unit); !ok {
			t.Errorf("%s: no %s", name, unit)
		}
	}
	want := 0.0
	if c.Conn == param.Fresh {
		want = float64(c.Procs * c.Connects)
		if c.Procs > 1 {
			want *= float64(c.Goroutines)
		}
	}
	if conns, ok := r.Value("conns/op"); !ok || conns != want {
		t.Errorf("%s: %v conns/op, want %v", name, conns, want)
	}
}

// read parses benchmark output: its lines by name without the GOMAXPROCS
// suffix, and its skips.
func read(t *testing.T, stdout string) (lines map[string]*benchfmt.Result, skips map[string]string) {
	t.Helper()
	lines, skips = map[string]*benchfmt.Result{}, map[string]string{}
	for line := range strings.Lines(stdout) {
		if skip, ok := strings.CutPrefix(line, "# skip "); ok {
			name, why, _ := strings.Cut(strings.TrimSpace(skip), ": ")
			skips[name] = why
		}
	}
	r := benchfmt.NewReader(strings.NewReader(stdout), "stdout")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			name := string(rec.Name)
			if i := strings.LastIndex(name, "-"); i > strings.LastIndex(name, "/") {
				name = name[:i]
			}
			lines[name] = rec.Clone()
		case *benchfmt.SyntaxError:
			t.Errorf("%v", rec)
		}
	}
	return lines, skips
}

// TestEveryWorkloadIsAFamily holds the Benchmark functions of this folder
// against the list that the command goes through.
func TestEveryWorkloadIsAFamily(t *testing.T) {
	stdout, stderr, code := suite(t, nil, "-test.list=^Benchmark")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	var functions []string
	for name := range strings.Lines(stdout) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(name), "Benchmark"); ok {
			functions = append(functions, name)
		}
	}
	listed := []string{"Harness"} // it measures no client
	for _, w := range families {
		listed = append(listed, w.Name)
	}
	slices.Sort(functions)
	slices.Sort(listed)
	if !slices.Equal(functions, listed) {
		t.Errorf("Benchmark functions %v, families %v", functions, listed)
	}
}
