package main

import (
	"context"
	"errors"
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

// diffOptions are the flags of diff.
type diffOptions struct {
	settings
	rev     string
	modules list
	gate    share
	changed bool // -clients changed
}

// A list is a flag that may be given several times.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

func diffCommand(stdout, stderr io.Writer) *ffcli.Command {
	o := &diffOptions{}
	fs := newFlagSet("rcbench diff", stderr)
	o.register(fs, "^BenchmarkGet$/conn=(own|pool|shared)/.*/.*/.*/loop=1$", 3*time.Minute, filepath.Join("results", "head.txt"))
	fs.StringVar(&o.rev, "base", "", "commit to compare the working tree with")
	fs.Var(&o.modules, "base-mod", "`module@version` to compare this commit's own version with; may be given several times")
	fs.Var(&o.gate, "gate", "fail if a client is slower than base by more than this percentage for sure (default no gate)")
	fs.Lookup("clients").Usage += "; changed: those whose modules differ"
	return &ffcli.Command{
		Name:       "diff",
		ShortUsage: "rcbench diff -base REV | -base-mod MODULE@VERSION [flags]",
		ShortHelp:  "compare two builds: another commit, or another version of a client",
		FlagSet:    fs,
		Exec: func(ctx context.Context, args []string) error {
			if (o.rev == "") == (len(o.modules) == 0) {
				return fmt.Errorf("%w: diff wants either -base or -base-mod", errUsage)
			}
			if clients := fs.Lookup("clients"); clients.Value.String() == "changed" {
				o.changed = true
				clients.Value.Set("")
			}
			if err := o.check(args); err != nil {
				return err
			}
			if o.gate > 0 && o.forks > 0 && o.forks < verdict.MinForks {
				return fmt.Errorf("%w: -gate: %s decide nothing; -forks must be at least %d", errUsage, count(o.forks, "fork"), verdict.MinForks)
			}
			return o.run(ctx, stdout, stderr)
		},
	}
}

func (o *diffOptions) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	l, err := o.open(ctx, stdout, stderr)
	if err != nil {
		return err
	}
	defer l.close(&err)

	fmt.Fprintln(stderr, "building both sides")
	var b base
	if o.rev != "" {
		var remove func()
		if b, remove, err = checkout(ctx, l.folder, o.rev); err != nil {
			return err
		}
		defer remove()
	} else if b, err = withModules(ctx, l.folder, o.modules); err != nil {
		return err
	}
	clients := o.clients()
	notes := b.lacks
	if o.changed {
		clients = slices.DeleteFunc(clients, func(name string) bool {
			return slices.ContainsFunc(b.lacks, func(why string) bool { return strings.HasPrefix(why, name+" ") })
		})
		if clients, err = changed(ctx, tree{}, b.tree, clients); err != nil {
			return err
		}
		if len(clients) == 0 {
			fmt.Fprintln(stdout, "no client's modules differ between the two sides; nothing to compare")
			return nil
		}
	}
	head, err := build(ctx, l.folder, "head", tree{})
	if err != nil {
		return err
	}
	baseBinary, err := build(ctx, l.folder, "base", b.tree)
	if err != nil {
		return err
	}
	headList, err := l.list(ctx, head, strings.Join(clients, ","))
	if err != nil {
		return err
	}
	has, err := l.list(ctx, baseBinary, "")
	if err != nil {
		return fmt.Errorf("the base cannot be compared with: %w", err)
	}
	if o.rev != "" {
		if dirty, err := (tree{}).run(ctx, "git", "status", "--porcelain"); err == nil && dirty != "" {
			notes = append(notes, "The working tree has changes that are not committed; they are part of head.")
		}
	}
	plan, only := bySide(l.settings, baseBinary, head, has, headList)
	for _, name := range only {
		notes = append(notes, "Not compared: "+name)
	}
	if len(plan.Comparisons) == 0 {
		return fmt.Errorf("%w: no case is on both sides with -bench=%s and these flags\n%s", errUsage, o.bench, strings.Join(notes, "\n"))
	}
	l.split(&plan)

	lines := l.header(ctx)
	l.report(lines, headList)
	fmt.Fprintf(stdout, "# base: %s\n", b.what)
	for _, n := range notes {
		fmt.Fprintf(stdout, "# %s\n", n)
	}
	result, interrupted := l.measure(ctx, plan)
	if result == nil {
		return interrupted
	}
	basePath := filepath.Join(filepath.Dir(o.output), "base.txt")
	side := func(name string) func(int) bool {
		return func(arm int) bool { return strings.HasSuffix(plan.Arms[arm].Name, "@"+name) }
	}
	err = l.publish(ctx, lines, plan, result, []string{"base=" + basePath, "head=" + o.output},
		resultFile{basePath, side("base"), has}, resultFile{o.output, side("head"), headList})
	if err != nil {
		return err
	}
	doc := document{title: "Against " + b.what, head: lines, lists: []*turns.List{ofClients(has, clients), headList}, notes: notes, plan: l.describe(plan)}
	broken := 0
	for _, v := range []forks.Value{forks.Time, forks.ClientCPU, forks.Bytes, forks.Allocs} {
		t, err := judgeSides(plan, result, v, verdict.Options{Threshold: float64(o.threshold)})
		if err != nil {
			return err
		}
		if v.Unit == forks.Time.Unit && o.gate > 0 {
			broken = t.gate(float64(o.gate))
		}
		doc.tables = append(doc.tables, t)
	}
	if err := doc.write(stdout, o.markdown, o.json); err != nil {
		return err
	}
	switch err := outcome(interrupted, result); {
	case err != nil:
		return err
	case broken > 0:
		fmt.Fprintf(stderr, "rcbench: the gate of %v is broken by %s\n", &o.gate, count(broken, "row"))
		return errFailed
	case o.gate > 0:
		fmt.Fprintf(stdout, "\nThe gate of %v holds.\n", &o.gate)
	}
	return nil
}

// The entries of a comparison of sides: base, head, and base once more, whose
// difference from base is the noise.
const (
	entryBase = iota
	entryHead
	entryAgain
)

// bySide makes three arms of each client and a comparison of each case that
// both sides have; the others are returned.
func bySide(s *settings, base, head string, has, want *turns.List) (p forks.Plan, only []string) {
	first := map[string]int{}
	for _, c := range want.Cases {
		if c.Skip != "" {
			continue
		}
		if !slices.ContainsFunc(has.Cases, func(b turns.Case) bool { return b.Name == c.Name && b.Skip == "" }) {
			only = append(only, c.Name+" is only in head")
			continue
		}
		if _, ok := first[c.Client]; !ok {
			first[c.Client] = len(p.Arms)
			args := s.args(c.Client)
			p.Arms = append(p.Arms,
				forks.Arm{Name: c.Client + "@base", Binary: base, Args: args},
				forks.Arm{Name: c.Client + "@head", Binary: head, Args: args},
				forks.Arm{Name: c.Client + "@again", Binary: base, Args: args})
		}
		i := first[c.Client]
		p.Comparisons = append(p.Comparisons, forks.Comparison{Name: c.Name, Entries: []forks.Entry{
			entryBase:  {Arm: i + entryBase, Case: c.Name},
			entryHead:  {Arm: i + entryHead, Case: c.Name},
			entryAgain: {Arm: i + entryAgain, Case: c.Name},
		}})
	}
	return p, only
}

// judgeSides compares head with base in one unit. The floor is what base
// against itself showed in the same run.
func judgeSides(p forks.Plan, r *forks.Result, v forks.Value, o verdict.Options) (table, error) {
	t := table{value: v, against: "head against base", options: o}
	var again []verdict.Estimate
	for c, comparison := range p.Comparisons {
		if !r.Has(c, entryBase) || !r.Has(c, entryHead) {
			continue
		}
		e, err := verdict.Compare(r.Pair(c, entryBase, entryHead, v), o)
		if err != nil {
			return t, fmt.Errorf("%s: %w", comparison.Name, err)
		}
		t.rows = append(t.rows, row{Case: comparison.Name, Arm: "head", Estimate: e})
		if !r.Has(c, entryAgain) {
			continue
		}
		e, err = verdict.Compare(r.Pair(c, entryBase, entryAgain, v), o)
		if err != nil {
			return t, fmt.Errorf("%s, A/A: %w", comparison.Name, err)
		}
		again = append(again, e)
	}
	if len(t.rows) == 0 {
		return t, errors.New("no case was measured on both sides")
	}
	t.options.Floor = verdict.Floor(again...)
	t.decide()
	return t, nil
}

// gate marks the rows that break it and returns how many they are.
func (t *table) gate(limit float64) int {
	broken := 0
	for i := range t.rows {
		r := &t.rows[i]
		if r.Broken = verdict.Gate(r.Estimate, r.P, verdict.Better(t.value.Unit), limit, t.options); r.Broken {
			broken++
		}
	}
	return broken
}

// ofClients is the part of a list that is about clients.
func ofClients(l *turns.List, clients []string) *turns.List {
	part := *l
	part.Clients = slices.DeleteFunc(slices.Clone(l.Clients), func(c turns.Client) bool {
		return !slices.Contains(clients, c.Name)
	})
	return &part
}
