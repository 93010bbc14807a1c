package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rcbench/adapters/all"
	"rcbench/bench/internal/forks"
	"rcbench/bench/internal/param"
	"rcbench/bench/internal/turns"
	"rcbench/bench/internal/verdict"
	"rcbench/internal/target"
)

// options are the flags of run.
type options struct {
	bench  string
	budget time.Duration
	forks  int
	turn   time.Duration
	seed   uint64
	output string
	params *param.Flags
	set    *flag.FlagSet
}

func runCommand(stdout, stderr io.Writer) *ffcli.Command {
	o := &options{set: newFlagSet("rcbench run", stderr)}
	o.set.StringVar(&o.bench, "bench", "^BenchmarkGet$", "regular expression of the cases, as for go test")
	o.set.DurationVar(&o.budget, "budget", 3*time.Minute, "wall time for measuring")
	o.set.IntVar(&o.forks, "forks", 6, "fresh processes for each client")
	o.set.DurationVar(&o.turn, "turn", forks.DefaultTurn, "aim for the length of a turn")
	o.set.Uint64Var(&o.seed, "seed", 0, "seed of the random orders (default drawn and printed)")
	o.set.StringVar(&o.output, "o", filepath.Join("results", "run.txt"), "file for the benchmark lines; the single turns go beside it")
	o.params = param.Register(o.set)
	return &ffcli.Command{
		Name:       "run",
		ShortUsage: "rcbench run [flags]",
		ShortHelp:  "compare clients, taking turns on one server",
		FlagSet:    o.set,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%w: unexpected argument %q", errUsage, args[0])
			}
			return o.run(ctx, stdout, stderr)
		},
	}
}

func (o *options) run(ctx context.Context, stdout, stderr io.Writer) error {
	if err := o.params.Resolve(all.Drivers()); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if o.forks < 1 || o.budget <= 0 {
		return fmt.Errorf("%w: -forks and -budget must be positive", errUsage)
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()
	}
	dir, err := os.MkdirTemp("", "rcbench-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(stderr, "building the benchmarks")
	binary, err := build(ctx, ".", dir)
	if err != nil {
		return err
	}
	server, err := target.Start(ctx, target.Options{
		Target: o.params.Target, TLS: o.params.TLS(), Password: o.params.Password(),
	})
	if err != nil {
		return err
	}
	defer server.Close()

	arms := []forks.Arm{{Name: "benchmarks", Binary: binary, Args: o.args("")}}
	env := []string{server.Env()}
	list, err := forks.List(ctx, arms[0], env, nil)
	if err != nil {
		return err
	}
	plan, skipped, err := o.plan(binary, list)
	if err != nil {
		return err
	}
	plan.Server, plan.Env = server, env

	head := header(server)
	for _, line := range head {
		fmt.Fprintf(stdout, "%s: %s\n", line.Key, line.Value)
	}
	for _, c := range list.Clients {
		fmt.Fprintf(stdout, "# client %s %s\n", c.Name, c.Version)
	}
	for _, s := range skipped {
		fmt.Fprintf(stdout, "# skip %s: %s\n", s.Name, s.Skip)
	}
	fmt.Fprintf(stdout, "# %d comparisons, %d clients, %d forks, seed %d\n", len(plan.Comparisons), len(plan.Arms), plan.Forks, plan.Seed)

	bar := newProgress(stderr)
	plan.Progress = bar.update
	result, err := forks.Run(ctx, plan)
	bar.done()
	if err != nil && ctx.Err() == nil {
		return errors.Join(err, server.Died())
	}
	interrupted := err
	for _, s := range result.Skips {
		fmt.Fprintf(stdout, "# skip %s: %s\n", s.Case, s.Why)
	}
	for _, f := range result.Failures {
		fmt.Fprintf(stderr, "rcbench: %s%v\n", where(plan, f), f)
	}
	if len(result.Slices) == 0 {
		return errors.Join(errors.New("nothing was measured"), interrupted)
	}
	if err := save(o.output, head, plan, result, list); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "# %d turns in %v, %.0f %% of the time inside them; written to %s\n", len(result.Slices),
		result.Elapsed.Round(time.Second), 100*result.Measured.Seconds()/result.Elapsed.Seconds(), o.output)
	if err := benchstat(context.WithoutCancel(ctx), o.output, stdout); err != nil {
		return err
	}
	rows, err := judge(plan, result, forks.Time, verdict.Options{}, func(c forks.Comparison) int { return 0 })
	if err != nil {
		return err
	}
	printVerdicts(stdout, rows, forks.Time.Unit)
	switch {
	case interrupted != nil:
		return interrupted
	case len(result.Failures) > 0:
		return errFailed
	}
	return nil
}

// args are the arguments of an arm: the parameters that were given, the
// selection, and one client in place of all.
func (o *options) args(client string) []string {
	args := []string{"-test.bench=" + o.bench}
	known := flag.NewFlagSet("", flag.ContinueOnError)
	param.Register(known)
	o.set.Visit(func(f *flag.Flag) {
		if known.Lookup(f.Name) != nil && (f.Name != "clients" || client == "") {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	if client != "" {
		args = append(args, "-clients="+client)
	}
	return args
}

// plan makes an arm of each client and a comparison of each group of cases.
func (o *options) plan(binary string, list *turns.List) (forks.Plan, []turns.Case, error) {
	p := forks.Plan{Forks: o.forks, Budget: o.budget, Turn: o.turn, Seed: o.seed}
	index := map[string]int{}
	for _, c := range list.Clients {
		index[c.Name] = len(p.Arms)
		p.Arms = append(p.Arms, forks.Arm{Name: c.Name, Binary: binary, Args: o.args(c.Name)})
	}
	var skipped []turns.Case
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
	if len(p.Comparisons) == 0 {
		return p, nil, fmt.Errorf("%w: no case matches -bench=%s with these flags, or no client can run it", errUsage, o.bench)
	}
	return p, skipped, nil
}

func where(p forks.Plan, f forks.Failure) string {
	if f.Comparison < 0 {
		return ""
	}
	return strings.TrimPrefix(p.Comparisons[f.Comparison].Name, "Benchmark") + ": "
}
