package target_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rcbench/internal/target"
)

func TestAutoFallsBackToMiniredis(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(target.EnvRequireServer, "")
	if s := start(t, target.Options{Target: "auto"}); !s.Miniredis() {
		t.Errorf("got %s", s.Describe())
	}
}

func TestAutoWithARequiredServer(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv(target.EnvRequireServer, "1")
	_, err := target.Start(t.Context(), target.Options{Target: "auto"})
	for _, want := range []string{"redis-server", "valkey-server", dir, target.EnvRequireServer} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("got %v, want %s", err, want)
		}
	}
}

func TestAutoPrefersARealServer(t *testing.T) {
	real(t)
	if s := start(t, target.Options{Target: "auto"}); s.Miniredis() {
		t.Errorf("got %s", s.Describe())
	}
}

func TestEmptyTargetIsTheEnvironments(t *testing.T) {
	t.Setenv(target.EnvTarget, "miniredis")
	if s := start(t, target.Options{}); !s.Miniredis() {
		t.Errorf("got %s", s.Describe())
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"redis-server":  "target redis-server: not found on PATH (" + dir + ")",
		"valkey-server": "target valkey-server: not found on PATH (" + dir + ")",
		dir + "/none":   "no such file",
		plain:           "permission denied",
		"redis":         "want auto, miniredis, redis-server",
	} {
		_, err := target.Start(t.Context(), target.Options{Target: name})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

// script is a program that takes the place of redis-server.
func script(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "my-server")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestServerThatDoesNotStart(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	// What it prints is its configuration, as redis-server does with a line
	// that it rejects.
	path := script(t, "grep requirepass; echo 'it is geheim why'; exit 3")
	var log logBuffer
	_, err := target.Start(t.Context(), target.Options{Target: path, Password: "geheim", Stderr: &log})
	if err == nil || !strings.Contains(err.Error(), "exit status 3: it is (password) why") {
		t.Errorf("got %v", err)
	}
	if text := log.String(); strings.Contains(text, "geheim") || !strings.Contains(text, "requirepass (password)") {
		t.Errorf("the log is %q", text)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "rcbench-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

func TestPortTakenByAnother(t *testing.T) {
	real(t)
	// Fails like a server whose port was taken, twice, and then is one.
	count := filepath.Join(t.TempDir(), "count")
	path := script(t, `echo x >>`+count+`
		if [ $(wc -l <`+count+`) -lt 3 ]; then echo 'bind: Address already in use'; exit 1; fi
		exec redis-server -`)
	if s := start(t, target.Options{Target: path}); s.Name() != "redis" {
		t.Errorf("got %s", s.Describe())
	}
}

func TestPasswordIsOnNoCommandLine(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := start(t, target.Options{Target: kind, Password: "geheim"})
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.PID()))
		if err != nil {
			t.Skip(err)
		}
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.PID()))
		if strings.Contains(string(line)+string(env), "geheim") {
			t.Errorf("%q", line)
		}
	})
}

func TestLongTemporaryFolder(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	each(t, func(t *testing.T, kind string) {
		s := start(t, target.Options{Target: kind})
		if err := dial(t, s, "unix").Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
