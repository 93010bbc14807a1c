package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"rcbench/internal/child"
	"rcbench/internal/tempdir"
)

// suite is the import path of the benchmarks.
const suite = "rcbench/bench"

// A tree is a source tree of the benchmarks, with what differs from a plain
// build of it.
type tree struct {
	dir     string // where to run the go command; empty for the working folder
	temp    string // for the go command's own files; empty for its default
	modfile string // in place of the tree's go.mod; empty for none
	overlay string // of go build -overlay; empty for none
}

// flags are the flags of a go command that builds the tree.
func (t tree) flags() []string {
	var flags []string
	if t.modfile != "" {
		flags = append(flags, "-mod=mod", "-modfile="+t.modfile)
	}
	if t.overlay != "" {
		flags = append(flags, "-overlay="+t.overlay)
	}
	return flags
}

// run runs a command in the tree's folder and returns its output. Its error
// carries what the command wrote to stderr.
func (t tree) run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = t.dir
	if t.temp != "" {
		cmd.Env = append(os.Environ(), "GOTMPDIR="+t.temp)
	}
	child.OwnGroup(cmd) // the go command runs compilers and linkers
	cmd.Cancel = func() error { return child.KillGroup(cmd) }
	child.EndWithParent(cmd)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%s %s: %w\n%s", name, args[0], err, strings.TrimSpace(stderr.String()+out.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// goCommand runs a go command with the flags of the tree after its name.
func (t tree) goCommand(ctx context.Context, name string, args ...string) (string, error) {
	return t.run(ctx, "go", append(append([]string{name}, t.flags()...), args...)...)
}

// build compiles the benchmarks of a tree into a test binary in folder.
func build(ctx context.Context, folder *tempdir.Folder, name string, t tree) (string, error) {
	binary := folder.File(name + ".test")
	t.temp = folder.Path // what a killed build leaves goes with the folder
	if _, err := t.goCommand(ctx, "test", "-c", "-o", binary, suite); err != nil {
		if strings.Contains(err.Error(), "is not in std") {
			err = fmt.Errorf("%w\nrun rcbench in a checkout of its module", err)
		}
		return "", fmt.Errorf("building %s of %s: %w", suite, name, err)
	}
	return binary, nil
}
