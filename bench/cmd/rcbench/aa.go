package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rcbench/bench/internal/forks"
	"rcbench/bench/internal/turns"
	"rcbench/bench/internal/verdict"
)

// aaOptions are the flags of aa.
type aaOptions struct {
	settings
	n      int
	inject share
}

func aaCommand(stdout, stderr io.Writer) *ffcli.Command {
	o := &aaOptions{}
	fs := newFlagSet("rcbench aa", stderr)
	o.register(fs, "^BenchmarkGet$/conn=own/.*/.*/.*/loop=1$", 5*time.Second, filepath.Join("results", "aa.txt"))
	fs.Lookup("budget").Usage = "wall time for each comparison"
	fs.IntVar(&o.n, "n", 20, "number of comparisons; they go round the selected cases")
	fs.Var(&o.inject, "inject", "slow one arm down by this percentage, and count how often that is found")
	return &ffcli.Command{
		Name:       "aa",
		ShortUsage: "rcbench aa [-n 20] [-budget 5s] [-inject 3%] [flags]",
		ShortHelp:  "compare the binary with itself: false alarms, or what this machine can see",
		FlagSet:    fs,
		Exec: func(ctx context.Context, args []string) error {
			if o.n < 1 {
				return fmt.Errorf("%w: -n must be positive", errUsage)
			}
			if err := o.check(args); err != nil {
				return err
			}
			return o.run(ctx, stdout, stderr)
		},
	}
}

func (o *aaOptions) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
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
	list, err := l.list(ctx, binary, strings.Join(o.clients(), ","))
	if err != nil {
		return err
	}
	var cases []turns.Case
	for _, c := range list.Cases {
		if c.Skip == "" {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		return fmt.Errorf("%w: no case matches -bench=%s with these flags", errUsage, o.bench)
	}
	head := l.header(ctx)
	l.report(head, list)

	units := []forks.Value{forks.Time, forks.ClientCPU, forks.Bytes, forks.Allocs}
	estimates := make([][]verdict.Estimate, len(units))
	var everything record
	called, done, failed := 0, 0, 0
	seed := o.seed
	var interrupted error
	for i := range o.n {
		c := cases[i%len(cases)]
		plan := l.twice(binary, c, float64(o.inject), seed+uint64(i))
		if i == 0 {
			fmt.Fprintf(stdout, "# %s\n# each of %d: %s; seed %d\n", question(o.inject), o.n, l.describe(plan), seed)
		}
		result, err := forks.Run(ctx, plan)
		if err != nil {
			interrupted = err
			break
		}
		l.failures(plan, result)
		failed += len(result.Failures)
		if !result.Has(0, 0) || !result.Has(0, 1) {
			continue
		}
		done++
		everything.add(plan, result)
		for u, v := range units {
			e, err := verdict.Compare(result.Pair(0, 0, 1, v), verdict.Options{})
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			estimates[u] = append(estimates[u], e)
		}
		e := estimates[0][done-1]
		d := verdict.Decide(e, e.P, verdict.Lower, verdict.Options{Threshold: float64(o.threshold)})
		hit := d.Verdict == verdict.Slower || d.Verdict == verdict.Faster && o.inject == 0
		if hit {
			called++
		}
		fmt.Fprintf(stdout, "%d of %d  %s  %s  p=%.3f  %s\n", i+1, o.n, interval(e), percent(e.Detectable), e.P, d.Verdict.Word("ns/op"))
	}
	if done == 0 {
		if interrupted != nil {
			return interrupted
		}
		return fmt.Errorf("no comparison was completed")
	}
	if err := save(resultFile{path: o.output, list: list}, head, everything.plan, &everything.result); err != nil {
		return err
	}
	rate := verdict.NewRate(called, done, 0.95)
	what := "false alarms (ns/op called different)"
	if o.inject > 0 {
		what = fmt.Sprintf("an injected slowdown of %v was found", &o.inject)
	}
	fmt.Fprintf(stdout, "\n%s: %d of %d, %.1f %% [%.1f, %.1f] (95 %%, binomial)\n", what, called, done, 100*rate.Share(), 100*rate.Low, 100*rate.High)
	if o.inject == 0 {
		for u, v := range units {
			fmt.Fprintf(stdout, "noise floor of %s: %.2f %% (95 %% of these comparisons differ by less)\n", v.Unit, 100*verdict.Floor(estimates[u]...))
		}
	}
	switch {
	case interrupted != nil:
		return interrupted
	case failed > 0:
		return errFailed
	}
	return nil
}

func question(inject share) string {
	if inject > 0 {
		return fmt.Sprintf("the same binary on both sides, one slowed down by %v", &inject)
	}
	return "the same binary on both sides: any difference found is a false alarm"
}

// A record is all comparisons so far as if they were of one plan, for the file.
type record struct {
	plan   forks.Plan
	result forks.Result
}

// add adds a plan of one comparison; its arms get names in the benchmark lines.
func (r *record) add(p forks.Plan, result *forks.Result) {
	c := forks.Comparison{Name: p.Comparisons[0].Name}
	for i, e := range p.Comparisons[0].Entries {
		c.Entries = append(c.Entries, forks.Entry{Arm: len(r.plan.Arms) + e.Arm, Case: e.Case + "/arm=" + string(rune('a'+i))})
	}
	at := len(r.plan.Comparisons)
	r.plan.Comparisons = append(r.plan.Comparisons, c)
	r.plan.Arms = append(r.plan.Arms, p.Arms...)
	r.result.Verified = result.Verified
	for _, s := range result.Slices {
		s.Comparison = at
		r.result.Slices = append(r.result.Slices, s)
	}
}

// twice is a plan of one case against itself, the second arm slowed down by a
// share of its time.
func (l *lab) twice(binary string, c turns.Case, stretch float64, seed uint64) forks.Plan {
	args := l.args(c.Client)
	p := forks.Plan{
		Arms:        []forks.Arm{{Name: c.Client + "@a", Binary: binary, Args: args}, {Name: c.Client + "@b", Binary: binary, Args: args}},
		Comparisons: []forks.Comparison{{Name: c.Name, Entries: []forks.Entry{{Arm: 0, Case: c.Name}, {Arm: 1, Case: c.Name}}}},
		Server:      l.server,
		Env:         l.env(),
	}
	p.Arms[1].Stretch = stretch
	l.split(&p)
	p.Seed = seed
	return p
}
