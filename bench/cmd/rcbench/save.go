package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/perf/benchfmt"

	"rcbench/bench/internal/fingerprint"
	"rcbench/bench/internal/forks"
	"rcbench/bench/internal/meter"
	"rcbench/bench/internal/turns"
	"rcbench/internal/target"
)

// header is what all lines of a file have in common.
func (l *lab) header(ctx context.Context) []benchfmt.Config {
	s := l.server
	lines := []benchfmt.Config{}
	add := func(key, value string) {
		lines = append(lines, benchfmt.Config{Key: key, Value: []byte(value), File: true})
	}
	add("goos", runtime.GOOS)
	add("goarch", runtime.GOARCH)
	add("pkg", suite)
	if cpu := cpuModel(); cpu != "" {
		add("cpu", cpu)
	}
	add("server", s.Describe())
	add("verified", meter.Verified(ctx, s))
	if s.Miniredis() {
		add("warning", target.MiniredisWarning)
	}
	add("go", runtime.Version())
	if l.params.Command != nil {
		add("cmd", fmt.Sprintf("%q", l.params.Command))
	}
	if l.params.Fingerprint {
		add("fingerprint", fingerprint.Line(fingerprint.Take(ctx, s)))
	}
	return lines
}

// cpuModel is the name of the processor where the system tells it in the way
// of Linux, else "".
func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// A resultFile is where the benchmark lines of some arms go.
type resultFile struct {
	path string
	arms func(arm int) bool // by their index in the plan; nil is all
	list *turns.List        // of their build
}

// publish writes the benchmark files and prints benchstat's tables of compare,
// which names them. An interrupted run is published too.
func (l *lab) publish(ctx context.Context, head []benchfmt.Config, p forks.Plan, r *forks.Result, compare []string, files ...resultFile) error {
	var paths []string
	for _, f := range files {
		if err := save(f, head, p, r); err != nil {
			return err
		}
		paths = append(paths, f.path)
	}
	fmt.Fprintf(l.stdout, "# written to %s\n", strings.Join(paths, " and "))
	return benchstat(context.WithoutCancel(ctx), l.stdout, compare...)
}

// save writes the benchmark file, one line for each fork and arm, and beside
// it every turn as a line of JSON.
func save(f resultFile, head []benchfmt.Config, p forks.Plan, r *forks.Result) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o777); err != nil {
		return err
	}
	var b bytes.Buffer
	for _, c := range f.list.Clients {
		fmt.Fprintf(&b, "# client %s %s\n", c.Name, c.Version)
	}
	b.WriteString(meter.Units + meter.OwnUnits)
	w := benchfmt.NewWriter(&b)
	for _, sum := range r.Sums() {
		if f.arms != nil && !f.arms(p.Comparisons[sum.Comparison].Entries[sum.Entry].Arm) {
			continue
		}
		if err := w.Write(line(head, p, sum, f.list.Procs)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(f.path, b.Bytes(), 0o666); err != nil {
		return err
	}
	return saveTurns(strings.TrimSuffix(f.path, filepath.Ext(f.path))+".turns.jsonl", p, r, f.arms)
}

// line is the benchmark line of an arm in one fork.
func line(head []benchfmt.Config, p forks.Plan, s forks.Sum, procs int) *benchfmt.Result {
	name := strings.TrimPrefix(p.Comparisons[s.Comparison].Entries[s.Entry].Case, "Benchmark")
	if procs > 1 {
		name = fmt.Sprintf("%s-%d", name, procs)
	}
	r := &benchfmt.Result{Config: head, Name: benchfmt.Name(name), Iters: int(s.Ops)}
	for _, m := range s.Metrics() {
		r.Values = append(r.Values, benchfmt.Value{Value: m.Value, Unit: m.Unit})
	}
	return r
}

// saveTurns writes one JSON object a line for each turn.
func saveTurns(path string, p forks.Plan, r *forks.Result, want func(arm int) bool) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, s := range r.Slices {
		if want != nil && !want(p.Comparisons[s.Comparison].Entries[s.Entry].Arm) {
			continue
		}
		if err := enc.Encode(map[string]any{
			"case":      p.Comparisons[s.Comparison].Entries[s.Entry].Case,
			"fork":      s.Fork,
			"round":     s.Round,
			"ops":       s.Ops,
			"ns":        s.Elapsed.Nanoseconds(),
			"client-ns": s.CPU.Nanoseconds(),
			"server-ns": s.Server.CPU.Nanoseconds(),
			"mallocs":   s.Mallocs,
			"bytes":     s.Bytes,
		}); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// benchstat prints benchstat's tables of the units that people compare.
func benchstat(ctx context.Context, stdout io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"tool", "benchstat",
		"-filter", ".unit:(ns/op OR cmds/s OR B/op OR allocs/op OR client-cpu-ns/op)"}, args...)...)
	cmd.Stdout = stdout
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("benchstat: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return nil
}
