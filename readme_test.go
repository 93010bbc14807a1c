package rcbench_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// brief are the rules by which the commands of the README are cut down to
// test size. Nothing else is changed.
var brief = []struct{ from, to string }{
	{`^make test$`, "make -n test"},       // this is it
	{`^make conform$`, "make -n conform"}, // a part of it
	{`^make bench$`, "make bench BUDGET=2s FORKS=1"},
	{`-count=6`, "-count=1 -benchtime=1x"},
	{`BUDGET=2m`, "BUDGET=2s"},
	{`^make studies$`, "make studies ARGS='-only=c -budget 5s -clients=resp,redigo'"},
	{`-n 20`, "-n 2 -budget 2s"},
	{`-budget=\w+`, "-budget=2s -forks=1"},
}

// TestReadme executes every shell block of the README in a copy of the
// project, so that no command there can rot. It takes some minutes, so make
// test leaves it to make readme, which CI calls.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP with -short: make readme runs the README's commands")
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 5 {
		t.Fatalf("%d shell blocks, want at least 5", len(blocks))
	}
	if strings.Contains(string(text), "@@") || !strings.Contains(string(text), "vs base") {
		t.Error("the README has no recorded result")
	}
	dir := project(t)
	for _, b := range blocks {
		name, _, _ := strings.Cut(b[1], "\n")
		t.Run(name, func(t *testing.T) {
			script := b[1]
			for _, line := range strings.Split(strings.TrimSpace(b[1]), "\n") {
				short := line
				for _, rule := range brief {
					short = regexp.MustCompile(rule.from).ReplaceAllString(short, rule.to)
				}
				script = strings.Replace(script, line, short, 1)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s\n%v\n%s", script, err, out)
			}
		})
	}
}

// project copies the files of the project into a folder of the test, with a
// commit of its own, because some commands compare with a commit.
func project(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rcbench")
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path == ".git" || path == "results" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(dir, path), 0o777)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, path), b, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-q", "-m", "copy"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}
