package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// suite is the import path of the benchmarks.
const suite = "rcbench/bench"

// build compiles the benchmarks of the module that dir is in, and returns the
// path of the test binary, which is in to.
func build(ctx context.Context, dir, to string) (string, error) {
	binary := filepath.Join(to, "bench.test")
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, suite)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", suite, err, strings.TrimSpace(string(out)))
	}
	return binary, nil
}
