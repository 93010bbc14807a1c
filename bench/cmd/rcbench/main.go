// Rcbench compares Redis client libraries, and says with an interval whether
// one is faster than another on the machine at hand.
//
//	rcbench run [-budget 3m] [-bench regexp] [bench flags]
//	rcbench diff -base REV | -base-mod MODULE@VERSION [-gate 5%]
//	rcbench aa [-n 20] [-inject 3%]
//	rcbench studies [-budget 5m]
//
// It compiles the benchmarks of this module, starts one server, and lets one
// process a client take turns of a few milliseconds, in many forks: see the
// packages turns, forks and verdict for the reasons. Exit status 0 means that
// everything asked for was measured and that the server agreed with it, 1 that
// something failed, 2 that the command line was wrong, 130 that it was
// interrupted (with the results so far).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rcbench/internal/target"
)

func main() {
	target.Main() // a re-executed child serves miniredis
	os.Exit(command(os.Args[1:], os.Stdout, os.Stderr))
}

// The errors that choose an exit status.
var (
	errUsage  = errors.New("usage")
	errFailed = errors.New("failed") // what failed has been printed
)

func command(args []string, stdout, stderr io.Writer) int {
	root := &ffcli.Command{
		Name:       "rcbench",
		ShortUsage: "rcbench <command> [flags]",
		ShortHelp:  "compare Redis client libraries",
		FlagSet:    newFlagSet("rcbench", stderr),
		Exec: func(_ context.Context, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%w: unknown command %q; known: run, diff, aa, studies", errUsage, args[0])
			}
			return flag.ErrHelp
		},
		Subcommands: []*ffcli.Command{runCommand(stdout, stderr), diffCommand(stdout, stderr), aaCommand(stdout, stderr), studiesCommand(stdout, stderr)},
	}
	if err := root.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		fmt.Fprintf(stderr, "rcbench: %v\n", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	switch err := root.Run(ctx); {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stderr, root.UsageFunc(root))
		return 2
	case errors.Is(err, errUsage):
		fmt.Fprintf(stderr, "rcbench: %v\n", err)
		return 2
	case ctx.Err() != nil:
		if !errors.Is(err, ctx.Err()) {
			fmt.Fprintf(stderr, "rcbench: %v\n", err)
		}
		fmt.Fprintln(stderr, "rcbench: interrupted")
		return 130
	case errors.Is(err, errFailed):
		return 1
	default:
		fmt.Fprintf(stderr, "rcbench: %v\n", err)
		return 1
	}
}

func newFlagSet(name string, stderr io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	return fs
}
