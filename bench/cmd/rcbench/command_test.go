package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"rcbench/internal/target"
)

// asCommand makes this test binary be the command, so that a test can send it
// signals.
const asCommand = "RCBENCH_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	target.Main()
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// invoke runs the command in this process.
func invoke(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = command(args, &out, &errs)
	return out.String(), errs.String(), code
}

// quick are flags that make a run short, and its place.
func quick(t *testing.T, args ...string) []string {
	return append(args, "-target=miniredis", "-goroutines=2", "-loops=1", "-forks=3", "-budget=1s",
		"-o="+filepath.Join(t.TempDir(), "run.txt"))
}

func TestUsageErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"walk"}, []string{`"walk"`, "run, diff, aa, studies"}},
		{[]string{"run", "-latency"}, []string{"-latency"}},
		{[]string{"run", "extra"}, []string{`"extra"`}},
		{[]string{"run", "-clients=jedis"}, []string{"-clients", `"jedis"`, "redigo"}},
		{[]string{"run", "-clients=redigo", "-baseline=radix"}, []string{"-baseline", `"radix"`}},
		{[]string{"run", "-bench=("}, []string{"-bench", "("}},
		{[]string{"run", "-budget=-1s"}, []string{"-budget"}},
		{[]string{"run", "-forks=-1"}, []string{"-forks"}},
		{[]string{"run", "-turn=0s"}, []string{"-turn"}},
		{[]string{"run", "-threshold=5"}, []string{"-threshold", "5%"}},
		{[]string{"run", "-o="}, []string{"-o"}},
		{[]string{"run", "-o=" + file + "/run.txt"}, []string{file}},
		{[]string{"run", "-md=" + file + "/run.md"}, []string{file}},
		{[]string{"diff"}, []string{"-base", "-base-mod"}},
		{[]string{"diff", "-base=main", "-base-mod=a@b"}, []string{"-base", "-base-mod"}},
		{[]string{"diff", "-base=main", "-gate=x"}, []string{"-gate"}},
		{[]string{"diff", "-base=main", "-gate=5%", "-forks=2"}, []string{"-gate", "2 forks", "-forks"}},
		{[]string{"studies", "-target=redis://127.0.0.1:1"}, []string{"-target", "URL"}},
		{[]string{"run", "-keys=9999999999"}, []string{"-keys", "9999999999"}},
		{[]string{"run", "-backlog=99999999999"}, []string{"-backlog", "99999999999"}},
		{[]string{"aa", "-n=0"}, []string{"-n"}},
		{[]string{"aa", "-inject=three"}, []string{"-inject"}},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			stdout, stderr, code := invoke(t, tt.args...)
			if code != 2 {
				t.Errorf("exit status %d, want 2\n%s%s", code, stdout, stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr %q, want it to contain %q", stderr, want)
				}
			}
		})
	}
	if _, err := os.Stat("results"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a command that measured nothing left the folder of its results: %v", err)
	}
}

func TestHelpDoesNotShowThePassword(t *testing.T) {
	t.Setenv(target.EnvTarget, "redis://:hunter2@127.0.0.1:1")
	for _, args := range [][]string{{"-h"}, {"run", "-h"}, {"run", "-nope"}, {"diff", "-h"}, {"aa", "-h"}} {
		stdout, stderr, _ := invoke(t, args...)
		if strings.Contains(stdout+stderr, "hunter2") {
			t.Errorf("%v shows the password", args)
		}
	}
}

func TestRunEndsWithTablesVerdictsAndFiles(t *testing.T) {
	dir := t.TempDir()
	md, js := filepath.Join(dir, "run.md"), filepath.Join(dir, "run.json")
	args := quick(t, "run", "-bench=^BenchmarkGet$/conn=(own|shared)", "-clients=redigo,resp,radix", "-baseline=resp", "-md="+md, "-json="+js)
	stdout, stderr, code := invoke(t, args...)
	if code != 0 {
		t.Fatalf("exit status %d\n%s%s", code, stdout, stderr)
	}
	for _, want := range []string{
		"server: miniredis", "verified: by the server's counters", "warning: " + target.MiniredisWarning,
		"# client redigo v", "# skip BenchmarkGet/conn=shared", "sec/op", "vs base", "baseline", "1.00x floor", "Could see",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout has no %q\n%s", want, stdout)
		}
	}
	if text, err := os.ReadFile(md); err != nil || !strings.Contains(string(text), "| Get/conn=own") {
		t.Errorf("Markdown %q, %v", text, err)
	}
	var doc struct {
		Rows []struct {
			Arm, Verdict string
			Baseline     bool
		}
	}
	text, err := os.ReadFile(js)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil || len(doc.Rows) != 4 { // three clients own, one shared
		t.Errorf("JSON with %d rows, %v\n%s", len(doc.Rows), err, text)
	}
}

// TestDiffOfTwoVersions lets the same case run with two versions of a client:
// they are in one table of benchstat, and the client that both sides have alike
// is left out.
func TestDiffOfTwoVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP with -short: it downloads and builds another version of redigo")
	}
	t.Chdir("../../..")
	stdout, stderr, code := invoke(t, quick(t, "diff", "-base-mod=github.com/gomodule/redigo@v1.9.2", "-clients=changed",
		"-bench=^BenchmarkGet$/conn=own", "-gate=900%")...)
	if code != 0 {
		t.Fatalf("exit status %d\n%s%s", code, stdout, stderr)
	}
	if strings.Contains(stdout, "client=resp") {
		t.Errorf("want redigo alone\n%s", stdout)
	}
	if !regexp.MustCompile(`│ +base +│ +head +│`).MatchString(stdout) {
		t.Errorf("want a table of benchstat with both sides\n%s", stdout)
	}
	for _, want := range []string{"Noise floor by the A/A arm", "head against base", "gate of 900% holds"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout has no %q\n%s", want, stdout)
		}
	}
}

// TestGateBreaksOnASlowerCommit: a gate that has never failed is no gate. The
// commit makes one of two adapters half as slow again, which no noise hides in
// a short run; only the rows of that client break the gate, and those of the
// commit that takes it back do not.
func TestGateBreaksOnASlowerCommit(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP with -short: it builds four times and measures two times 20 s")
	}
	dir := repository(t)
	slow(t, dir, "redigo", 50)
	git(t, dir, "commit", "--quiet", "--all", "--message=slower")
	t.Chdir(dir)
	server := "miniredis"
	if _, err := exec.LookPath("redis-server"); err == nil {
		server = "redis-server"
	}
	type verdicts struct {
		Rows []struct {
			Case, Unit string
			Broken     bool `json:"gate-broken"`
		}
	}
	gate := func(base string) (doc verdicts, output string, code int) {
		js := filepath.Join(t.TempDir(), "diff.json")
		stdout, stderr, code := invoke(t, "diff", "-base="+base, "-gate=5%", "-bench=^BenchmarkGet$/conn=(own|pool)", "-clients=resp,redigo",
			"-goroutines=1", "-loops=1", "-budget=20s", "-target="+server, "-json="+js, "-o="+filepath.Join(t.TempDir(), "head.txt"))
		text, err := os.ReadFile(js)
		if err == nil {
			err = json.Unmarshal(text, &doc)
		}
		if err != nil {
			t.Fatalf("%v\n%s%s", err, stdout, stderr)
		}
		return doc, stdout + stderr, code
	}
	doc, output, code := gate("HEAD~1")
	if code != 1 || !strings.Contains(output, "the gate of 5% is broken by 2 rows") {
		t.Errorf("exit status %d, want 1\n%s", code, output)
	}
	for _, r := range doc.Rows {
		if want := r.Unit == "ns/op" && strings.HasSuffix(r.Case, "/client=redigo"); r.Broken != want {
			t.Errorf("%s, %s: gate broken: %v, want %v", r.Case, r.Unit, r.Broken, want)
		}
	}
	git(t, dir, "revert", "--no-edit", "HEAD")
	if doc, output, code = gate("HEAD~2"); code != 0 || !strings.Contains(output, "The gate of 5% holds.") {
		t.Errorf("reverted: exit status %d, want 0\n%s", code, output)
	}
}

// repository makes a repository of this module's files, with one commit, as
// dirty as they are.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root := "../../.."
	names, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "-z").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed, and not committed yet
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "init", "--quiet")
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--message=as it is")
	return dir
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=test", "-c", "user.email=test@localhost"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// slow makes the Get of an adapter take so many per cent longer, busy as a
// client would be.
func slow(t *testing.T, dir, client string, percent int) {
	t.Helper()
	folder := filepath.Join(dir, "adapters", client)
	path := filepath.Join(folder, "client.go")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	get := regexp.MustCompile(`(?m)^func \(.*\) Get\(.*\{$`)
	if n := len(get.FindAll(text, -1)); n != 1 {
		t.Fatalf("%s has %d methods Get, want 1", path, n)
	}
	text = get.ReplaceAll(text, []byte("$0\n\tdefer slower()()"))
	code := fmt.Sprintf(`package %s

import "time"

func slower() func() {
	start := time.Now()
	return func() {
		for end := time.Now().Add(time.Since(start) * %d / 100); time.Now().Before(end); {
		}
	}
}
`, client, percent)
	if err := errors.Join(os.WriteFile(path, text, 0o666), os.WriteFile(filepath.Join(folder, "slower.go"), []byte(code), 0o666)); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "--all")
}

func TestDiffOfWhatIsNotThere(t *testing.T) {
	t.Chdir("../../..")
	for _, tt := range []struct{ flag, want string }{
		{"-base=no-such-commit", "no-such-commit"},
		{"-base-mod=github.com/gomodule/redigo", "module@version"},
		{"-base-mod=github.com/gomodule/redigo@v0.0.0-nothing", "github.com/gomodule/redigo@v0.0.0-nothing"},
	} {
		if _, stderr, code := invoke(t, quick(t, "diff", tt.flag)...); code == 0 || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit status %d, stderr %q", tt.flag, code, stderr)
		}
	}
}

// TestWorktreesOfKilledRunsArePruned: also one that git was killed over, which
// is locked; but no other that happens to be locked.
func TestWorktreesOfKilledRunsArePruned(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "--quiet")
	git(t, dir, "commit", "--quiet", "--allow-empty", "--message=one")
	tmp := t.TempDir()
	for _, name := range []string{"rcbench-1/base", "rcbench-2/base", "other/base"} {
		git(t, dir, "worktree", "add", "--quiet", "--detach", filepath.Join(tmp, name))
	}
	git(t, dir, "worktree", "lock", filepath.Join(tmp, "rcbench-1/base"))
	git(t, dir, "worktree", "lock", filepath.Join(tmp, "other/base"))
	for _, name := range []string{"rcbench-1", "rcbench-2", "other"} {
		if err := os.RemoveAll(filepath.Join(tmp, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := (tree{dir: dir}).prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "-C", dir, "worktree", "list").Output()
	if err != nil || strings.Contains(string(out), "rcbench-") || !strings.Contains(string(out), "other/base") {
		t.Errorf("%v, left:\n%s", err, out)
	}
}

func TestAAFindsWhatIsInjected(t *testing.T) {
	args := quick(t, "aa", "-n=2", "-bench=^BenchmarkGet$/conn=own", "-clients=resp", "-inject=300%")
	stdout, stderr, code := invoke(t, args...)
	if code != 0 || !strings.Contains(stdout, "an injected slowdown of 300% was found: 2 of 2") {
		t.Errorf("exit status %d\n%s%s", code, stdout, stderr)
	}
}

// TestSignalLeavesNothing: whatever the command is doing.
func TestSignalLeavesNothing(t *testing.T) {
	for i, after := range []time.Duration{100 * time.Millisecond, time.Second, 4 * time.Second} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
			if testing.Short() && i != 2 {
				continue
			}
			t.Run(fmt.Sprintf("%v after %v", sig, after), func(t *testing.T) {
				t.Parallel()
				tmp := t.TempDir()
				cmd := exec.Command(os.Args[0], append(quick(t, "run", "-clients=resp,redigo"), "-budget=60s")...)
				cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+tmp)
				cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(after)
				cmd.Process.Signal(sig)
				cmd.Wait()
				if code := cmd.ProcessState.ExitCode(); sig != syscall.SIGKILL && code != 130 {
					t.Errorf("exit status %d, want 130", code)
				}
				gone := func() string {
					left, _ := exec.Command("pgrep", "-f", tmp).Output()
					if len(left) > 0 {
						return "processes " + string(left)
					}
					entries, err := os.ReadDir(tmp)
					if err != nil || len(entries) > 0 && sig != syscall.SIGKILL {
						return fmt.Sprintf("files %v, %v", entries, err)
					}
					return ""
				}
				// A go build that was under way when the command was killed
				// ends by itself.
				for deadline := time.Now().Add(30 * time.Second); gone() != ""; time.Sleep(50 * time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatalf("left: %s", gone())
					}
				}
			})
		}
	}
}
