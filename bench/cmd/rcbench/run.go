package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rcbench/bench/internal/forks"
	"rcbench/bench/internal/turns"
	"rcbench/bench/internal/verdict"
)

// options are the flags of run.
type options struct {
	settings
	baseline string
}

func runCommand(stdout, stderr io.Writer) *ffcli.Command {
	o := &options{}
	fs := newFlagSet("rcbench run", stderr)
	o.register(fs, "^BenchmarkGet$", 3*time.Minute, filepath.Join("results", "run.txt"))
	fs.StringVar(&o.baseline, "baseline", "", "client that the others are compared with (default the first)")
	return &ffcli.Command{
		Name:       "run",
		ShortUsage: "rcbench run [flags]",
		ShortHelp:  "compare clients, taking turns on one server",
		FlagSet:    fs,
		Exec: func(ctx context.Context, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			return o.run(ctx, stdout, stderr)
		},
	}
}

func (o *options) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	names := o.clients()
	if o.baseline == "" {
		o.baseline = names[0]
	} else if !slices.Contains(names, o.baseline) {
		return fmt.Errorf("%w: -baseline: %q is not among the clients %s", errUsage, o.baseline, strings.Join(names, ", "))
	}
	l, err := o.open(ctx, stdout, stderr)
	if err != nil {
		return err
	}
	defer l.close(&err)
	fmt.Fprintln(stderr, "building the benchmarks")
	binary, err := build(ctx, l.folder, "bench", tree{})
	if err != nil {
		return err
	}
	list, err := l.list(ctx, binary, strings.Join(names, ","))
	if err != nil {
		return err
	}
	plan, skipped := byClient(l.settings, binary, list)
	head := l.header(ctx)
	l.report(head, list)
	for _, s := range skipped {
		fmt.Fprintf(stdout, "# skip %s: %s\n", s.Name, s.Skip)
	}
	if len(plan.Comparisons) == 0 {
		return fmt.Errorf("%w: no client can run a case of -bench=%s with these flags%s", errUsage, o.bench, o.params.Hint(o.bench))
	}
	l.split(&plan)
	result, interrupted := l.measure(ctx, plan)
	if result == nil {
		return interrupted
	}
	err = l.publish(ctx, head, plan, result, []string{"-col", "/client", o.output}, resultFile{path: o.output, list: list})
	if err != nil {
		return err
	}
	t, err := judge(plan, result, forks.Time, verdict.Options{Threshold: float64(o.threshold)}, func(c forks.Comparison) int {
		return slices.IndexFunc(c.Entries, func(e forks.Entry) bool { return plan.Arms[e.Arm].Name == o.baseline })
	})
	if err != nil {
		return err
	}
	doc := document{title: "Clients compared", head: head, lists: []*turns.List{list}, tables: []table{t}, plan: l.describe(plan)}
	if err := doc.write(stdout, o.markdown, o.json); err != nil {
		return err
	}
	return outcome(interrupted, result)
}

// outcome is the error that a command ends with when its results are written.
func outcome(interrupted error, r *forks.Result) error {
	switch {
	case interrupted != nil:
		return interrupted
	case len(r.Failures) > 0:
		return errFailed
	}
	return nil
}

// byClient makes an arm of each client and a comparison of each group of
// cases. It also returns the cases that their client cannot run.
func byClient(s *settings, binary string, list *turns.List) (p forks.Plan, skipped []turns.Case) {
	index := map[string]int{}
	for _, c := range list.Clients {
		index[c.Name] = len(p.Arms)
		p.Arms = append(p.Arms, forks.Arm{Name: c.Name, Binary: binary, Args: s.args(c.Name)})
	}
	for _, c := range list.Cases {
		if c.Skip != "" {
			skipped = append(skipped, c)
			continue
		}
		i := slices.IndexFunc(p.Comparisons, func(x forks.Comparison) bool { return x.Name == c.Group })
		if i < 0 {
			i = len(p.Comparisons)
			p.Comparisons = append(p.Comparisons, forks.Comparison{Name: c.Group})
		}
		p.Comparisons[i].Entries = append(p.Comparisons[i].Entries, forks.Entry{Arm: index[c.Client], Case: c.Name})
	}
	return p, skipped
}

// where names the comparison of a failure.
func where(p forks.Plan, f forks.Failure) string {
	if f.Comparison < 0 {
		return ""
	}
	return strings.TrimPrefix(p.Comparisons[f.Comparison].Name, "Benchmark") + ": "
}
