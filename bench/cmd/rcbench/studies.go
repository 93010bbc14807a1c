package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"rcbench/bench/internal/fingerprint"
	"rcbench/bench/internal/forks"
	"rcbench/bench/internal/turns"
	"rcbench/internal/target"
	"rcbench/internal/tempdir"
)

// studyOptions are the flags of studies.
type studyOptions struct {
	budget   time.Duration
	only     string
	clients  string
	target   string
	output   string
	markdown string
	seed     uint64
}

func studiesCommand(stdout, stderr io.Writer) *ffcli.Command {
	o := &studyOptions{}
	fs := newFlagSet("rcbench studies", stderr)
	fs.DurationVar(&o.budget, "budget", 5*time.Minute, "wall time for measuring; rows whose turns take seconds may exceed it")
	fs.StringVar(&o.only, "only", "", "studies, comma-separated: a, b, c, d, e (default all)")
	fs.StringVar(&o.clients, "clients", "", "clients, comma-separated (default all; goredisauto in study a only)")
	fs.StringVar(&o.target, "target", "", "server, as for run, but no URL")
	fs.StringVar(&o.output, "o", filepath.Join("results", "studies"), "folder for the benchmark lines and the single turns")
	fs.StringVar(&o.markdown, "md", "", "also write the tables as Markdown to this file")
	fs.Uint64Var(&o.seed, "seed", 0, "seed of the random orders (default drawn and printed)")
	return &ffcli.Command{
		Name:       "studies",
		ShortUsage: "rcbench studies [-budget 5m] [-only a,b] [flags]",
		ShortHelp:  "measure what the five published studies measured, and print their tables",
		FlagSet:    fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%w: unexpected argument %q", errUsage, args[0])
			}
			if o.budget <= 0 {
				return fmt.Errorf("%w: -budget must be positive", errUsage)
			}
			return o.run(ctx, stdout, stderr)
		},
	}
}

// selected are the studies of -only, read.
func (o *studyOptions) selected(root string) ([]study, error) {
	var list []study
	var names []string
	for _, s := range studies {
		names = append(names, s.name)
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), s.name) {
			continue
		}
		s, err := s.read(root)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	for name := range strings.SplitSeq(o.only, ",") {
		if o.only != "" && !slices.Contains(names, name) {
			return nil, fmt.Errorf("%w: -only: unknown study %q; known: %s", errUsage, name, strings.Join(names, ", "))
		}
	}
	return list, nil
}

func (o *studyOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	list, err := o.selected(root)
	if err != nil {
		return err
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()
	}
	// Flags are checked before anything is built.
	if strings.Contains(cmp.Or(o.target, os.Getenv(target.EnvTarget)), "://") {
		return fmt.Errorf("%w: -target: the studies set up their own servers (databases, a short queue), so it must not be a URL", errUsage)
	}
	if err := writable(o.markdown); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	for _, s := range list {
		for i := range s.parts {
			if _, err := o.settings(s, i, stderr); err != nil {
				return err
			}
		}
	}
	folder, err := tempdir.New("", 0)
	if err != nil {
		return err
	}
	defer folder.Remove()
	fmt.Fprintln(stderr, "building the benchmarks")
	binary, err := build(ctx, folder, "bench", tree{})
	if err != nil {
		return err
	}
	var markdown bytes.Buffer
	var failure error
	for i, s := range list {
		a := &answers{cells: map[string]map[string]*cell{}}
		if o.leavesAuto(s) {
			a.notes = append(a.notes, "goredisauto is in study A only, unless -clients names it.")
		}
		var interrupted error
		for p := range s.parts {
			err := o.measure(ctx, binary, s, p, a, stdout, stderr)
			if ctx.Err() != nil {
				interrupted = cmp.Or(err, ctx.Err())
				break
			}
			if err != nil {
				fmt.Fprintf(stderr, "rcbench: study %s: %v\n", s.name, err)
				failure = errFailed
			}
		}
		s.text(stdout, a)
		s.markdown(&markdown, a)
		if interrupted != nil {
			for _, missing := range list[i+1:] {
				fmt.Fprintf(stdout, "\nStudy %s was not begun.\n", missing.name)
			}
			failure = interrupted
			break
		}
	}
	if o.markdown != "" {
		if err := writeFile(o.markdown, markdown.Bytes()); err != nil {
			return err
		}
	}
	return failure
}

// moduleRoot is the folder of this module's go.mod.
func moduleRoot(ctx context.Context) (string, error) {
	gomod, err := tree{}.run(ctx, "go", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	return filepath.Dir(gomod), nil
}

// leavesAuto says that a study is measured without goredisauto, for the sake of
// the time that all five may take together. -clients overrules it.
func (o *studyOptions) leavesAuto(s study) bool { return o.clients == "" && s.name != "a" }

// settings are those of a run, for one part of a study.
func (o *studyOptions) settings(s study, i int, stderr io.Writer) (*settings, error) {
	p := s.parts[i]
	r := &settings{}
	fs := newFlagSet("rcbench studies", stderr)
	r.register(fs, "^Benchmark("+p.bench+")$", time.Duration(p.share*float64(o.budget)), filepath.Join(o.output, fmt.Sprintf("%s%d.txt", s.name, i+1)))
	args := append(strings.Fields(p.flags), fmt.Sprintf("-forks=%d", p.forks), fmt.Sprintf("-seed=%d", o.seed), "-target="+o.target)
	clients := o.clients
	if o.leavesAuto(s) {
		var names []string
		for _, name := range allClients() {
			if name != "goredisauto" {
				names = append(names, name)
			}
		}
		clients = strings.Join(names, ",")
	}
	if err := fs.Parse(append(args, "-clients="+clients)); err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	return r, r.check(nil)
}

// measure runs a part of a study and adds what it found to a.
func (o *studyOptions) measure(ctx context.Context, binary string, s study, i int, a *answers, stdout, stderr io.Writer) (err error) {
	r, err := o.settings(s, i, stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\n# study %s, part %d of %d: %s\n", s.name, i+1, len(s.parts), s.parts[i].bench)
	l, err := r.open(ctx, stdout, stderr)
	if err != nil {
		return err
	}
	defer l.close(&err)
	list, err := l.list(ctx, binary, strings.Join(r.clients(), ","))
	if err != nil {
		return err
	}
	list.Cases = slices.DeleteFunc(list.Cases, func(c turns.Case) bool {
		return !slices.ContainsFunc(s.rows, func(row studyRow) bool { return row.group == c.Group })
	})
	plan, skipped := byClient(r, binary, list)
	head := l.header(ctx)
	if s.name == "d" && i == len(s.parts)-1 {
		a.figures, a.none = fingerprint.Take(ctx, l.server)
		head = append(head, benchfmt.Config{Key: "fingerprint", Value: []byte(fingerprint.Line(a.figures, a.none)), File: true})
	}
	if i == 0 {
		l.report(head, list)
		if l.server.Miniredis() {
			a.warning = target.MiniredisWarning
		}
	}
	for _, c := range skipped {
		a.skip(c.Client, c.Skip)
	}
	if len(plan.Comparisons) == 0 {
		return errors.New("no client can run any of its cases")
	}
	l.split(&plan)
	result, interrupted := l.measure(ctx, plan)
	if result == nil {
		return interrupted
	}
	if err := save(resultFile{path: r.output, list: list}, head, plan, result); err != nil {
		return err
	}
	a.add(plan, result)
	if interrupted == nil && len(result.Failures) > 0 {
		return fmt.Errorf("%s; see above", count(len(result.Failures), "failure"))
	}
	return interrupted
}

// header is the first line of a study's table; the last columns are today's
// clients.
func (s study) header(a *answers) []string {
	columns := append([]string{"row", "unit"}, s.recorded...)
	if a.figures != nil {
		columns = append(columns, "redis-benchmark")
	}
	return append(columns, a.clients...)
}

// table are the lines below it.
func (s study) table(a *answers) [][]string {
	var lines [][]string
	for _, row := range s.rows {
		line := append([]string{row.name, row.unit}, row.figures...)
		if a.figures != nil {
			line = append(line, a.fingerprint(row.name))
		}
		for _, client := range a.clients {
			line = append(line, a.text(row, client))
		}
		for i, text := range line {
			if text == "" {
				line[i] = "–"
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func (s study) text(w io.Writer, a *answers) {
	fmt.Fprintf(w, "\n%s\n\n", s.title)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(s.header(a), "\t"))
	for _, line := range s.table(a) {
		fmt.Fprintln(tw, strings.Join(line, "\t"))
	}
	tw.Flush()
	fmt.Fprintf(w, "\n%s\n", strings.Join(s.below(a), "\n"))
}

func (s study) markdown(w io.Writer, a *answers) {
	columns := s.header(a)
	fmt.Fprintf(w, "## %s\n\n| %s |\n|%s\n", s.title, strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, line := range s.table(a) {
		fmt.Fprintf(w, "| %s |\n", strings.Join(line, " | "))
	}
	fmt.Fprintf(w, "\n%s\n\n", strings.Join(s.below(a), "\n\n"))
}

// below are the sentences under a table.
func (s study) below(a *answers) []string {
	lines := []string{s.answer(a)}
	if s.name == "d" && a.none != nil {
		lines = append(lines, "redis-benchmark: "+a.none.Error()+".")
	}
	if a.warning != "" {
		lines = append(lines, "Warning: "+a.warning)
	}
	return append(lines, a.notes...)
}

// A cell is what one client did in one case.
type cell struct {
	forks   []int      // by number
	ns      []float64  // per op, of each fork
	conns   float64    // per op, by the server's count; negative if it does not tell
	failed  []float64  // share of the attempts of a storm that failed, of each fork
	classes []string   // of these failures
	counts  [3]float64 // acknowledged, failed and present increments of a storm
}

// answers are the figures of a study.
type answers struct {
	clients []string
	cells   map[string]map[string]*cell // by case without client, and client
	notes   []string                    // what is missing, and why
	warning string
	figures []fingerprint.Figure
	none    error // why there are no figures of redis-benchmark
}

func (a *answers) skip(client, why string) {
	note := client + " has no figure where it lacks what the row needs: " + why
	if !slices.Contains(a.notes, note) {
		a.notes = append(a.notes, note)
	}
}

// add sorts what a part measured into the cells.
func (a *answers) add(p forks.Plan, r *forks.Result) {
	for _, arm := range p.Arms {
		if !slices.Contains(a.clients, arm.Name) {
			a.clients = append(a.clients, arm.Name)
		}
	}
	for _, skip := range r.Skips {
		_, client, _ := strings.Cut(skip.Case, "/client=")
		a.skip(client, skip.Why)
	}
	for _, f := range r.Failures {
		a.notes = append(a.notes, "Failed: "+where(p, f)+f.Error())
	}
	for _, sum := range r.Sums() {
		c := p.Comparisons[sum.Comparison]
		client := p.Arms[c.Entries[sum.Entry].Arm].Name
		if a.cells[c.Name] == nil {
			a.cells[c.Name] = map[string]*cell{}
		}
		at := a.cells[c.Name][client]
		if at == nil {
			at = &cell{}
			a.cells[c.Name][client] = at
		}
		at.add(sum)
	}
}

// add adds a fork.
func (c *cell) add(sum forks.Sum) {
	n := float64(len(c.ns))
	mean := func(old, v float64) float64 { return (old*n + v) / (n + 1) }
	values := map[string]float64{}
	for _, m := range sum.Metrics() {
		values[m.Unit] = m.Value
	}
	conns, ok := values["conns/op"]
	if !ok {
		conns = -1
	}
	c.conns = mean(c.conns, conns)
	if attempts := values["acknowledged/op"] + values["failed/op"]; attempts > 0 {
		c.failed = append(c.failed, values["failed/op"]/attempts)
		for i, unit := range []string{"acknowledged/op", "failed/op", "present/op"} {
			c.counts[i] = mean(c.counts[i], values[unit])
		}
		for _, class := range failureClasses {
			if values[class+"/op"] > 0 && !slices.Contains(c.classes, class) {
				c.classes = append(c.classes, class)
			}
		}
	}
	c.forks = append(c.forks, sum.Fork)
	c.ns = append(c.ns, values["ns/op"])
}

// text is a cell of the table: the mean of the forks with the interval of 95 %
// that they give, and what failed.
func (a *answers) text(row studyRow, client string) string {
	c := a.cells[row.group][client]
	if c == nil {
		return ""
	}
	values := make([]float64, len(c.ns))
	for i, ns := range c.ns {
		values[i], _ = row.figure(ns)
	}
	s := benchmath.AssumeNormal.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), 0.95)
	text := fmt.Sprintf("%.4g", s.Center)
	if half := (s.Hi - s.Lo) / 2 / s.Center; !math.IsInf(half, 0) && !math.IsNaN(half) {
		text += fmt.Sprintf(" ±%.0f%%", 100*half)
	}
	if c.failed != nil {
		text += fmt.Sprintf(" (%.0f/%.0f/%.0f", c.counts[0], c.counts[1], c.counts[2])
		if len(c.classes) > 0 {
			text += " " + strings.Join(c.classes, ", ")
		}
		text += ")"
	}
	return text
}

// fingerprint is what redis-benchmark has for a test; empty for none.
func (a *answers) fingerprint(test string) string {
	for _, f := range a.figures {
		if f.Test == test {
			return fmt.Sprintf("%.0f", f.PerSecond)
		}
	}
	return ""
}
