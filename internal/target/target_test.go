package target_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rcbench/adapters"
	"rcbench/adapters/resp"
	"rcbench/internal/target"
)

// envHelper makes the test binary start a server and hold it until its standard
// input ends.
const envHelper = "RCBENCH_TEST_HELPER"

func TestMain(m *testing.M) {
	target.Main()
	if kind := os.Getenv(envHelper); kind != "" {
		os.Exit(helper(kind))
	}
	// The race detector makes a program wait a second when it ends, here
	// each child of miniredis.
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	os.Exit(m.Run())
}

func helper(kind string) int {
	kind, guarded := strings.CutSuffix(kind, "+guard")
	target.UseGuard(guarded)
	s, err := target.Start(context.Background(), target.Options{Target: kind})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	cfg, err := s.Config("unix")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(s.PID(), cfg.Addr)
	io.Copy(io.Discard, os.Stdin)
	if os.Getenv("RCBENCH_TEST_PANIC") != "" {
		panic("as asked for")
	}
	s.Close()
	return 0
}

// kinds are the servers that tests start.
func kinds(t *testing.T) []string {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err == nil {
		return []string{"miniredis", "redis-server"}
	}
	if os.Getenv(target.EnvRequireServer) != "" {
		t.Fatal("redis-server is not on PATH, and " + target.EnvRequireServer + " is set")
	}
	t.Log("redis-server is not on PATH: only miniredis is tested")
	return []string{"miniredis"}
}

// real skips a test without a redis-server.
func real(t *testing.T) {
	t.Helper()
	if len(kinds(t)) < 2 {
		t.Skip("redis-server is not on PATH")
	}
}

func each(t *testing.T, f func(t *testing.T, kind string)) {
	for _, kind := range kinds(t) {
		t.Run(kind, func(t *testing.T) { f(t, kind) })
	}
}

// start starts a server that ends with the test, which fails if the child of
// miniredis saw a data race.
func start(t *testing.T, o target.Options) *target.Server {
	t.Helper()
	var log logBuffer
	o.Stderr = &log
	s, err := target.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if text := log.String(); strings.Contains(text, "DATA RACE") {
			t.Error(text)
		}
	})
	return s
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func counters(t *testing.T, s *target.Server) target.Counters {
	t.Helper()
	c, err := s.Counters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func dial(t *testing.T, s *target.Server, network string) adapters.Client {
	t.Helper()
	cfg, err := s.Config(network)
	if err != nil {
		t.Fatal(err)
	}
	c, err := resp.Driver.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// eventually polls until ok, which may take as long as a loaded machine needs.
func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", within, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestServesEveryNetwork(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := start(t, target.Options{Target: kind, TLS: true, Password: "geheim"})
		for _, network := range []string{"tcp", "unix", "tls"} {
			c := dial(t, s, network)
			if err := c.Set(t.Context(), "rcbench:k", network); err != nil {
				t.Errorf("%s: %v", network, err)
			}
			v, err := s.Control().Get(t.Context(), "rcbench:k")
			if string(v) != network || err != nil {
				t.Errorf("%s: got %q, %v from the control connection", network, v, err)
			}
		}
		want := map[string]string{"miniredis": "miniredis", "redis-server": "redis"}[kind]
		if s.Name() != want || s.Miniredis() != (kind == "miniredis") || s.Guest() {
			t.Errorf("%s is %s, miniredis %v, guest %v", kind, s.Name(), s.Miniredis(), s.Guest())
		}
		if want := s.Name() + " " + s.Version() + ", started " + kind; s.Describe() != want || s.Version() == "unknown" {
			t.Errorf("Describe is %q, want %q", s.Describe(), want)
		}
		if s.MaxClients() < 100 {
			t.Errorf("MaxClients is %d", s.MaxClients())
		}
		if err := s.Died(); err != nil {
			t.Error(err)
		}
	})
}

func TestAsksForThePassword(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := start(t, target.Options{Target: kind, Password: `p "q" \x41 ü`})
		cfg, err := s.Config("tcp")
		if err != nil {
			t.Fatal(err)
		}
		if c, err := resp.Driver.Dial(t.Context(), cfg); err != nil {
			t.Error(err)
		} else {
			c.Close()
		}
		cfg.Password = ""
		c, err := resp.Driver.Dial(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "NOAUTH") {
			t.Errorf("without a password PING gives %v", err)
		}
		if _, err := c.Do(t.Context(), "INFO"); err == nil || !strings.Contains(err.Error(), "NOAUTH") {
			t.Errorf("without a password INFO gives %v", err)
		}
	})
}

func TestConfigNamesWhatIsMissing(t *testing.T) {
	s := start(t, target.Options{Target: "miniredis"})
	for network, want := range map[string]string{
		"tls": "target miniredis has no tls port",
		"udp": `target miniredis has no network "udp"; known are tcp, unix and tls`,
	} {
		if _, err := s.Config(network); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", network, err, want)
		}
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s, err := target.Start(t.Context(), target.Options{Target: kind})
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := s.Config("unix")
		if err != nil {
			t.Fatal(err)
		}
		fi, err := os.Stat(filepath.Dir(cfg.Addr))
		if err != nil || fi.Mode().Perm() != 0o700 {
			t.Fatalf("the folder is %v, %v", fi, err)
		}
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := os.Stat(filepath.Dir(cfg.Addr)); !os.IsNotExist(err) {
			t.Errorf("the folder: %v", err)
		}
		if !gone(s.PID()) {
			t.Error("the process lives")
		}
		if err := s.Died(); err != nil {
			t.Error(err)
		}
	})
}

func TestDiedSaysHow(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := start(t, target.Options{Target: kind})
		syscall.Kill(s.PID(), syscall.SIGKILL)
		eventually(t, 10*time.Second, "Died", func() bool { return s.Died() != nil })
		if err := s.Died(); !strings.Contains(err.Error(), "target "+kind+": process "+strconv.Itoa(s.PID())+" ended: signal: killed") {
			t.Error(err)
		}
		if _, err := s.Counters(t.Context()); err == nil || !strings.Contains(err.Error(), "signal: killed") {
			t.Errorf("Counters: %v", err)
		}
	})
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	each(t, func(t *testing.T, kind string) {
		for _, after := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			s, err := target.Start(ctx, target.Options{Target: kind, TLS: true})
			cancel()
			if err == nil {
				s.Close() // fast
				continue
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after %v: %v", after, err)
			}
		}
		left, _ := filepath.Glob(filepath.Join(os.TempDir(), "rcbench-*"))
		if len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}

// TestSeveralAtOnce starts servers in parallel, which must neither take each
// other's ports nor sweep each other's folders.
func TestSeveralAtOnce(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var wg sync.WaitGroup
	for i := range 6 {
		for _, kind := range kinds(t) {
			wg.Go(func() {
				s, err := target.Start(t.Context(), target.Options{Target: kind})
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				key := "rcbench:" + strconv.Itoa(i) + kind
				if err := s.Control().Set(t.Context(), key, key); err != nil {
					t.Error(err)
				}
				reply, err := s.Control().Do(t.Context(), "DBSIZE")
				if reply != int64(1) || err != nil {
					t.Errorf("DBSIZE is %v, %v: another's server", reply, err)
				}
				cfg, _ := s.Config("unix")
				if _, err := os.Stat(cfg.Addr); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
}

// TestEndsWithItsProcess kills a process that started a server, and then expects
// the server to be gone, and the folder after the next Start.
func TestEndsWithItsProcess(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ways := []string{"SIGKILL", "panic"}
	each(t, func(t *testing.T, kind string) {
		for _, how := range []string{kind, kind + "+guard"} {
			for _, way := range ways {
				t.Run(how+"/"+way, func(t *testing.T) {
					cmd := exec.Command(os.Args[0])
					cmd.Env = append(os.Environ(), envHelper+"="+how)
					if way == "panic" {
						cmd.Env = append(cmd.Env, "RCBENCH_TEST_PANIC=1")
					}
					in, err := cmd.StdinPipe()
					if err != nil {
						t.Fatal(err)
					}
					out, err := cmd.StdoutPipe()
					if err != nil {
						t.Fatal(err)
					}
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
					line, _ := bufio.NewReader(out).ReadString('\n')
					var pid int
					var socket string
					if _, err := fmt.Sscan(line, &pid, &socket); err != nil {
						t.Fatalf("helper: %q", line)
					}
					if gone(pid) {
						t.Fatal("the server does not live")
					}
					if way == "panic" {
						in.Close()
					} else {
						cmd.Process.Kill()
					}
					cmd.Wait()
					eventually(t, 10*time.Second, "the server's end", func() bool { return gone(pid) || zombie(pid) })
					start(t, target.Options{Target: "miniredis"})
					if _, err := os.Stat(filepath.Dir(socket)); !os.IsNotExist(err) {
						t.Errorf("the stale folder: %v", err)
					}
				})
			}
		}
	})
}

// zombie reports whether a process has ended but its new parent, in a container
// often one that never does, has not waited for it.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(after, "Z")
}

func TestAttach(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		o := target.Options{Target: kind, TLS: true, Password: "geheim"}
		s := start(t, o)
		name, value, _ := strings.Cut(s.Env(), "=")
		t.Setenv(name, value)
		a, err := target.Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if a.Guest() || a.Died() != nil || a.Describe() != s.Describe() || a.PID() != s.PID() || a.MaxClients() != s.MaxClients() {
			t.Errorf("attached %s, pid %d; started %s, pid %d", a.Describe(), a.PID(), s.Describe(), s.PID())
		}
		for _, network := range []string{"tcp", "unix", "tls"} {
			if err := dial(t, a, network).Set(t.Context(), "rcbench:k", "v"); err != nil {
				t.Errorf("%s: %v", network, err)
			}
		}
		counters(t, a)
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Control().Ping(t.Context()); err != nil {
			t.Errorf("closing the attached ended the server: %v", err)
		}
		if v, err := s.Control().Get(t.Context(), "rcbench:k"); string(v) != "v" {
			t.Errorf("closing the attached removed keys: %q, %v", v, err)
		}

		o.Password = ""
		if other := start(t, o); other.PID() == s.PID() {
			t.Error("attached to a server with another password")
		}
	})
}

func TestAttachIgnoresAnotherTarget(t *testing.T) {
	real(t)
	s := start(t, target.Options{Target: "redis-server"})
	name, value, _ := strings.Cut(s.Env(), "=")
	t.Setenv(name, value)
	if m := start(t, target.Options{Target: "miniredis"}); !m.Miniredis() {
		t.Errorf("asked for miniredis, got %s", m.Describe())
	}
}
