package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/perf/benchfmt"

	"rcbench/adapters/all"
	"rcbench/bench/internal/forks"
	"rcbench/bench/internal/param"
	"rcbench/bench/internal/turns"
	"rcbench/bench/internal/verdict"
	"rcbench/internal/target"
	"rcbench/internal/tempdir"
)

// settings are the flags that every measuring command has.
type settings struct {
	bench     string
	budget    time.Duration
	forks     int
	turn      time.Duration
	seed      uint64
	threshold share
	output    string
	markdown  string
	json      string
	params    *param.Flags
	set       *flag.FlagSet
}

// register defines the flags, with the command's own defaults for some.
func (s *settings) register(fs *flag.FlagSet, bench string, budget time.Duration, output string) {
	s.set = fs
	s.threshold = 0.05
	fs.StringVar(&s.bench, "bench", bench, "regular expression of the cases, as for go test")
	fs.DurationVar(&s.budget, "budget", budget, "wall time for measuring")
	fs.IntVar(&s.forks, "forks", 0, "fresh processes for each arm (default as many as serve the budget best)")
	fs.DurationVar(&s.turn, "turn", forks.DefaultTurn, "aim for the length of a turn")
	fs.Uint64Var(&s.seed, "seed", 0, "seed of the random orders (default drawn and printed)")
	fs.Var(&s.threshold, "threshold", "largest difference that is called the same")
	fs.StringVar(&s.output, "o", output, "file for the benchmark lines; the single turns go beside it")
	fs.StringVar(&s.markdown, "md", "", "also write the verdicts as Markdown to this file")
	fs.StringVar(&s.json, "json", "", "also write the verdicts as JSON to this file")
	s.params = param.Register(fs)
}

// check resolves the flags; its errors are of usage.
func (s *settings) check(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: unexpected argument %q", errUsage, args[0])
	}
	if err := s.params.Resolve(all.Drivers()); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if _, err := param.Match(s.bench); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if s.output == "" {
		return fmt.Errorf("%w: -o: want the name of a file", errUsage)
	}
	if s.forks < 0 || s.budget <= 0 || s.turn <= 0 {
		return fmt.Errorf("%w: -budget and -turn must be positive, and -forks not negative", errUsage)
	}
	for _, path := range []string{s.output, s.markdown, s.json} {
		if err := writable(path); err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
	}
	if s.seed == 0 {
		s.seed = rand.Uint64()
	}
	return nil
}

// allClients are the names of all clients.
func allClients() []string {
	var names []string
	for _, d := range all.Drivers() {
		names = append(names, d.Name())
	}
	return names
}

// clients are the names of the clients that were asked for.
func (s *settings) clients() []string {
	names := make([]string, len(s.params.Drivers))
	for i, d := range s.params.Drivers {
		names[i] = d.Name()
	}
	return names
}

// writable finds out before the measuring whether a file can be written after
// it, and leaves nothing of its own there. An empty path is none.
func writable(path string) error {
	if path == "" {
		return nil
	}
	made := "" // the uppermost folder, or the file, that was not there
	for p := filepath.Clean(path); ; p = filepath.Dir(p) {
		if _, err := os.Lstat(p); !errors.Is(err, os.ErrNotExist) {
			break
		}
		made = p
	}
	if made != "" {
		defer os.RemoveAll(made)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	return f.Close()
}

// args are the arguments of an arm: the parameters that were given, the
// selection, and one client in place of all. The target, which may hold a
// password, goes by the environment.
func (s *settings) args(client string) []string {
	args := []string{"-test.bench=" + s.bench}
	known := flag.NewFlagSet("", flag.ContinueOnError)
	param.Register(known)
	s.set.Visit(func(f *flag.Flag) {
		if known.Lookup(f.Name) != nil && !slices.Contains([]string{"clients", "target", "fingerprint"}, f.Name) {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	return append(args, "-clients="+client)
}

// A lab is where a command measures: a temporary folder and one server, which
// all arms share.
type lab struct {
	*settings
	folder *tempdir.Folder
	server *target.Server
	stdout io.Writer
	stderr io.Writer
}

// open makes the folder and starts the server. close must be called.
func (s *settings) open(ctx context.Context, stdout, stderr io.Writer) (*lab, error) {
	folder, err := tempdir.New("", 0)
	if err != nil {
		return nil, err
	}
	server, err := target.Start(ctx, target.Options{
		Target: s.params.Target, TLS: s.params.TLS(), Password: s.params.Password(), Backlog: s.params.Backlog,
	})
	if err != nil {
		folder.Remove()
		return nil, err
	}
	if err := s.params.Fits(server); err != nil {
		server.Close()
		folder.Remove()
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	return &lab{settings: s, folder: folder, server: server, stdout: stdout, stderr: stderr}, nil
}

// close ends the server, and as a guest removes the keys. Where that fails, a
// command that was well so far fails.
func (l *lab) close(err *error) {
	if closing := l.server.Close(); closing != nil {
		fmt.Fprintf(l.stderr, "rcbench: %v\n", closing)
		if *err == nil {
			*err = errFailed
		}
	}
	l.folder.Remove()
}

// list asks a build what it has for clients.
func (l *lab) list(ctx context.Context, binary, clients string) (*turns.List, error) {
	arm := forks.Arm{Name: "the benchmarks", Binary: binary, Args: l.args(clients)}
	return forks.List(ctx, arm, l.env())
}

// env is what is added to the environment of the arms.
func (l *lab) env() []string {
	env := []string{l.server.Env()}
	if l.params.Target != "" {
		env = append(env, target.EnvTarget+"="+l.params.Target)
	}
	return env
}

// measure completes the plan, says what it will be able to see, runs it, and
// says what failed. It returns what there is, with the error that ended the run
// early, if one did.
func (l *lab) measure(ctx context.Context, plan forks.Plan) (*forks.Result, error) {
	plan.Server, plan.Env = l.server, l.env()
	fmt.Fprintf(l.stdout, "# %s; seed %d\n", l.describe(plan), plan.Seed)
	bar := newProgress(l.stderr)
	plan.Progress = bar.update
	result, err := forks.Run(ctx, plan)
	bar.done()
	for _, s := range result.Skips {
		fmt.Fprintf(l.stdout, "# skip %s: %s\n", s.Case, s.Why)
	}
	l.failures(plan, result)
	if len(result.Slices) == 0 {
		return nil, cmp.Or(err, errors.New("nothing was measured"))
	}
	fmt.Fprintf(l.stdout, "# %s, %d turns in %v, %.0f %% of the time inside them\n", count(result.Forks, "fork"), len(result.Slices),
		result.Elapsed.Round(time.Second), 100*result.Measured.Seconds()/result.Elapsed.Seconds())
	return result, err
}

// failures says what failed, a line each.
func (l *lab) failures(plan forks.Plan, result *forks.Result) {
	for _, f := range result.Failures {
		fmt.Fprintf(l.stderr, "rcbench: %s%v\n", where(plan, f), f)
	}
}

const (
	// forkOverhead is about what starting one arm and opening its connections
	// costs.
	forkOverhead = 150 * time.Millisecond

	// perCommand is about the time of one in a turn, which with many workers is
	// longer than it should be: forks has a least number of ops.
	perCommand = 20 * time.Microsecond

	// fewForks are carried out if the budget holds their overhead: with fewer,
	// the t distribution costs more than longer forks give.
	fewForks = 12
)

// longest is about the length of the longest turns of a plan.
func (l *lab) longest(p forks.Plan) time.Duration {
	turn := l.turn
	for _, c := range p.Comparisons {
		workers, _ := strconv.Atoi(parameter(c.Name, "goroutines"))
		turn = max(turn, time.Duration(workers*forks.PerWorker)*perCommand)
	}
	return turn
}

// split sets the number of forks, if the user did not, so that the budget of
// each comparison finds the smallest difference.
func (l *lab) split(p *forks.Plan) {
	p.Budget, p.Turn, p.Seed, p.Forks = l.budget, l.turn, l.seed, l.forks
	if p.Forks == 0 {
		each := l.budget / time.Duration(len(p.Comparisons))
		overhead := forkOverhead * time.Duration(most(*p))
		p.Forks, _ = verdict.Plan(each, overhead, l.longest(*p), most(*p))
		if each > fewForks*overhead {
			p.Forks = max(p.Forks, fewForks)
		}
		p.Forks = max(p.Forks, forks.EnoughForks)
	}
}

// most is the largest number of arms that a comparison has.
func most(p forks.Plan) int {
	n := 0
	for _, c := range p.Comparisons {
		n = max(n, len(c.Entries))
	}
	return n
}

// describe says what a plan is and what difference it can resolve.
func (l *lab) describe(p forks.Plan) string {
	arms := most(p)
	perFork := p.Budget/time.Duration(len(p.Comparisons)*p.Forks) - forkOverhead*time.Duration(arms)
	rounds := max(1, int(perFork/(l.longest(p)*time.Duration(arms))))
	if perFork <= 0 {
		return fmt.Sprintf("%s of up to %d arms, %s: the budget of %v is too small for that, and will be exceeded",
			count(len(p.Comparisons), "comparison"), arms, count(p.Forks, "fork"), p.Budget)
	}
	return fmt.Sprintf("%s of up to %d arms, %s in %v: can resolve a difference of about %s",
		count(len(p.Comparisons), "comparison"), arms, count(p.Forks, "fork"), p.Budget,
		percent(verdict.Resolvable(p.Forks, rounds)))
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// percent formats a share; an infinite one is what no run can resolve.
func percent(share float64) string {
	if math.IsInf(share, 0) || math.IsNaN(share) {
		return "any size (too few forks)"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// report prints what the arms and the server are.
func (l *lab) report(head []benchfmt.Config, lists ...*turns.List) {
	for _, line := range head {
		fmt.Fprintf(l.stdout, "%s: %s\n", line.Key, line.Value)
	}
	for _, list := range lists {
		for _, c := range list.Clients {
			fmt.Fprintf(l.stdout, "# client %s %s\n", c.Name, c.Version)
		}
	}
}

// A share is a flag in per cent: 5% is 0.05.
type share float64

func (s *share) String() string { return fmt.Sprintf("%g%%", 100*float64(*s)) }

func (s *share) Set(text string) error {
	var v float64
	var rest string
	n, _ := fmt.Sscanf(text, "%g%s", &v, &rest)
	if n != 2 || rest != "%" || !(v >= 0 && v < 1000) {
		return errors.New("want a percentage, such as 5%")
	}
	*s = share(v / 100)
	return nil
}
