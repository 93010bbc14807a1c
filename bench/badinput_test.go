package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rcbench/internal/target"
)

func TestBadInputIsOneClearError(t *testing.T) {
	tests := []struct {
		name string
		args []string
		code int
		want []string // in stderr
	}{
		{"unknown client", []string{"-clients=resp,jedis"}, 2, []string{"-clients", `"jedis"`, "goredis, goredisauto, radix, redigo, resp, rueidis, rueidiscompat, valkey"}},
		{"unknown conn", []string{"-conns=owned"}, 2, []string{"-conns", `"owned"`, "own, shared, pool, fresh"}},
		{"unknown net", []string{"-nets=udp"}, 2, []string{"-nets", `"udp"`, "tcp, unix, tls"}},
		{"unknown setup", []string{"-setup=fat"}, 2, []string{"-setup", `"fat"`, "stock, lean"}},
		{"unknown metrics", []string{"-metrics=some"}, 2, []string{"-metrics", `"some"`, "all"}},
		{"unknown auth", []string{"-auth=token"}, 2, []string{"-auth", `"token"`, "password"}},
		{"unknown protocol", []string{"-proto=4"}, 2, []string{"-proto", `"4"`, "2, 3"}},
		{"size without unit", []string{"-values=64"}, 2, []string{"-values", `"64"`, "KiB"}},
		{"size too large", []string{"-values=513MiB"}, 2, []string{"-values", "512MiB"}},
		{"no workers", []string{"-goroutines=0"}, 2, []string{"-goroutines", `"0"`}},
		{"loop not a number", []string{"-loops=1,ten"}, 2, []string{"-loops", `"ten"`}},
		{"negative pool", []string{"-pool=-1"}, 2, []string{"-pool", "-1"}},
		{"no keys", []string{"-keyspace=0"}, 2, []string{"-keyspace", "0"}},
		{"unparsable command", []string{"-cmd=SET 'a"}, 2, []string{"-cmd", "SET 'a"}},
		{"custom without a command", []string{"-test.bench=Custom"}, 1, []string{"nothing was measured", "-cmd"}},
		{"no such share of reads", []string{"-reads=101"}, 2, []string{"-reads", `"101"`}},
		{"no such way", []string{"-how=slowly"}, 2, []string{"-how", `"slowly"`, "multipipe"}},
		{"no processes", []string{"-procs=0"}, 2, []string{"-procs", `"0"`}},
		{"negative backlog", []string{"-backlog=-1"}, 2, []string{"-backlog", "-1"}},
		{"two faults", []string{"-conns=x", "-loops=y"}, 2, []string{"-conns", "-loops"}},
		{"no case of that name", []string{"-test.bench=Nothing"}, 1, []string{"nothing was measured", "-bench=Nothing"}},
		{"no client that can", []string{"-test.bench=Get$", "-conns=shared", "-clients=redigo"}, 1, []string{"nothing was measured", "3 selected cases"}},
		{"no such target", []string{"-target=memcached"}, 1, []string{"memcached", "redis-server"}},
		{"unreachable target", []string{"-target=redis://user:hunter2@127.0.0.1:1"}, 1, []string{"127.0.0.1:1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"-test.bench=Set", "-test.benchtime=1x", "-target=miniredis"}, tt.args...)
			stdout, stderr, code := suite(t, nil, args...)
			if code != tt.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, tt.code, stdout, stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr %q, want it to contain %q", stderr, want)
				}
			}
			if strings.Contains(stdout+stderr, "hunter2") {
				t.Errorf("the password is in the output:\n%s%s", stdout, stderr)
			}
		})
	}
}

// guest starts a server for a suite that is told its URL.
func guest(t *testing.T, o target.Options) (s *target.Server, addr string) {
	t.Helper()
	o.Target = servers(t)[len(servers(t))-1]
	s, err := target.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	config, err := s.Config("tcp")
	if err != nil {
		t.Fatal(err)
	}
	return s, config.Addr
}

// TestCommandsThatFail: the run ends with the server's words.
func TestCommandsThatFail(t *testing.T) {
	for cmd, want := range map[string]string{
		"NONSENSE __key__": "unknown command",
		"SET __key__":      "wrong number of arguments",
		"LPOP rcbench:s x": "rcbench:s",
	} {
		stdout, _, code := suite(t, nil, "-test.bench=Custom", "-test.benchtime=5x", "-clients=resp,goredis", "-conns=own", "-goroutines=2", "-target=miniredis", "-cmd="+cmd)
		if code != 1 || strings.Count(stdout, want) < 2 || !strings.Contains(stdout, "--- FAIL") {
			t.Errorf("%s: exit code %d\n%s\nwant a failure of both clients with %q", cmd, code, stdout, want)
		}
	}
}

// TestCommandsOnSomebodyElsesServer: only the suite's own keys are touched.
func TestCommandsOnSomebodyElsesServer(t *testing.T) {
	s, addr := guest(t, target.Options{})
	if s.Miniredis() {
		t.Skip("SKIP: miniredis does not tell the keys of a command")
	}
	run := func(cmd string) (string, int) {
		stdout, _, code := suite(t, nil, "-test.bench=Custom", "-test.benchtime=5x", "-clients=resp", "-conns=own", "-goroutines=2", "-target=redis://"+addr, "-cmd="+cmd)
		return stdout, code
	}
	for _, cmd := range []string{"ZADD board 1 __key__", "FLUSHALL", "CONFIG SET maxmemory 1mb", "EVAL 'return 1' 0", "EVAL 'return 1' 1 rcbench:a", "COPY rcbench:a rcbench:b DB 1", "MIGRATE 127.0.0.1 1 rcbench:a 0 1", "BLPOP rcbench:a 0", "MSET rcbench:a 1 b 2", "DEBUG SLEEP 0"} {
		if stdout, code := run(cmd); code == 0 || !strings.Contains(stdout, "not ours") {
			t.Errorf("%s: exit code %d\n%s", cmd, code, stdout)
		}
	}
	for _, cmd := range []string{"ZADD rcbench:board __rand__ __key__", "SET __key__ __data__", "PING", "TIME"} {
		if stdout, code := run(cmd); code != 0 {
			t.Errorf("%s: exit code %d\n%s", cmd, code, stdout)
		}
	}
	if n, err := s.Control().Do(t.Context(), "DBSIZE"); err != nil || n != int64(0) {
		t.Errorf("%v keys are left, %v", n, err)
	}
}

// TestDatabase: what is prepared is where it is read.
func TestDatabase(t *testing.T) {
	for _, server := range servers(t) {
		stdout, stderr, code := suite(t, nil, "-test.bench=.", "-test.benchtime=5x", "-clients=resp", "-conns=own,fresh", "-nets=unix", "-goroutines=2", "-db=5",
			"-loops=2", "-keys=2", "-members=2", "-keyspace=3", "-procs=2", "-connects=2", "-target="+server)
		if code != 0 || !strings.Contains(stdout, "/db=5/") || strings.Contains(stdout, "db=254") {
			t.Errorf("%s: exit code %d\n%s%s", server, code, stdout, stderr)
		}
	}
	_, addr := guest(t, target.Options{})
	if _, stderr, code := suite(t, nil, "-test.bench=Set$", "-db=5", "-target=redis://"+addr); code != 2 || !strings.Contains(stderr, "-db") {
		t.Errorf("exit code %d, stderr %q; want the database of the URL", code, stderr)
	}
	if stdout, _, code := suite(t, nil, "-test.bench=HashFill", "-test.benchtime=1x", "-clients=resp", "-target=redis://"+addr); code != 0 || strings.Contains(stdout, "db=") {
		t.Errorf("exit code %d, want HashFill in the URL's database\n%s", code, stdout)
	}
}

// TestMoreConnectionsThanTheServerTakes is told before any is made.
func TestMoreConnectionsThanTheServerTakes(t *testing.T) {
	s, addr := guest(t, target.Options{})
	if s.Miniredis() {
		t.Skip("SKIP: miniredis has no maxclients")
	}
	if _, err := s.Control().Do(t.Context(), "CONFIG", "SET", "maxclients", "50"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-test.bench=Get$", "-conns=own", "-goroutines=49"},
		{"-test.bench=Get$", "-conns=pool", "-goroutines=2", "-pool=60"},
		{"-test.bench=ConnectIncr", "-goroutines=100"},
		{"-test.bench=Storm", "-goroutines=10", "-procs=5"},
	} {
		stdout, _, code := suite(t, nil, append(args, "-clients=resp", "-loops=1", "-test.benchtime=1x", "-target=redis://"+addr)...)
		if code != 1 || !strings.Contains(stdout, "maxclients of 50") {
			t.Errorf("%v: exit code %d\n%s", args, code, stdout)
		}
	}
}

// TestShortQueue: a storm on a server with a short queue loses nothing unseen.
func TestShortQueue(t *testing.T) {
	for _, server := range servers(t) {
		stdout, stderr, code := suite(t, nil, "-test.bench=Storm", "-test.benchtime=1x", "-clients=resp", "-nets=unix",
			"-procs=3", "-goroutines=100", "-connects=3", "-backlog=1", "-target="+server)
		if code != 0 {
			t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
		}
		lines, _ := read(t, stdout)
		for name, r := range lines {
			if !strings.Contains(name, "backlog=1/") {
				t.Errorf("%s does not tell the backlog", name)
			}
			acknowledged, _ := r.Value("acknowledged/op")
			failed, _ := r.Value("failed/op")
			again, _ := r.Value("eagain/op")
			if acknowledged+failed != 900 || failed == 0 || failed != again {
				t.Errorf("%s: %v acknowledged and %v failed, %v of them with EAGAIN; want 900 in all", name, acknowledged, failed, again)
			}
			t.Logf("%s: %v of 900 failed", server, failed)
		}
		if len(lines) != 1 {
			t.Errorf("%d lines, want 1\n%s", len(lines), stdout)
		}
	}
}

func TestWrongPasswordIsNotPrinted(t *testing.T) {
	_, addr := guest(t, target.Options{Password: "the-right-one"})
	stdout, stderr, code := suite(t, nil, "-test.bench=Set", "-target=redis://:hunter2@"+addr)
	if code == 0 || !strings.Contains(stderr, addr) {
		t.Errorf("exit code %d, stderr %q; want a failure that names %s", code, stderr, addr)
	}
	if all := stdout + stderr; strings.Contains(all, "hunter2") || strings.Contains(all, "the-right-one") {
		t.Errorf("a password is in the output:\n%s", all)
	}
}

func TestTargetWithoutUnixSocket(t *testing.T) {
	_, addr := guest(t, target.Options{})
	stdout, _, code := suite(t, nil, "-test.bench=Set", "-nets=unix", "-clients=resp", "-target=redis://"+addr)
	if code == 0 || !strings.Contains(stdout, addr) || !strings.Contains(stdout, "unix") {
		t.Errorf("exit code %d, output %s; want a failure that says that %s has no unix socket", code, stdout, addr)
	}
}

func TestServerOfAnotherProtocol(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				c.Read(make([]byte, 100))
				io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			}()
		}
	}()
	_, stderr, code := suite(t, nil, "-test.bench=Set", "-target=redis://"+l.Addr().String())
	if code == 0 || !strings.Contains(stderr, l.Addr().String()) || !strings.Contains(stderr, "HTTP/1.1") {
		t.Errorf("exit code %d, stderr %q; want a failure with the address and what it answered", code, stderr)
	}
}

func TestServerThatDiesFailsTheRun(t *testing.T) {
	for _, client := range []string{"resp", "goredis", "radix", "rueidis"} {
		t.Run(client, func(t *testing.T) {
			s, addr := guest(t, target.Options{})
			go func() {
				// Kill it once the run is under way.
				for t.Context().Err() == nil {
					c, err := s.Counters(t.Context())
					if err != nil || c.Calls["get"] > 5000 {
						break
					}
					time.Sleep(5 * time.Millisecond)
				}
				syscall.Kill(s.PID(), syscall.SIGKILL)
			}()
			start := time.Now()
			stdout, stderr, code := suite(t, nil, "-test.bench=Get$", "-test.benchtime=60s", "-conns=own", "-loops=1", "-clients="+client, "-target=redis://"+addr)
			if code == 0 || !strings.Contains(stdout, "--- FAIL") {
				t.Errorf("exit code %d, want a failure\n%s%s", code, stdout, stderr)
			}
			if took := time.Since(start); took > 50*time.Second {
				t.Errorf("it took %v to notice", took)
			}
		})
	}
}

func TestTooFewFileDescriptorsSaysSo(t *testing.T) {
	_, addr := guest(t, target.Options{})
	for _, tt := range []struct {
		of   string
		args []string
		want []string // what could not be had, and the remedy
	}{
		{"connections", []string{"-test.bench=Get$", "-conns=own", "-loops=1", "-goroutines=1000"}, []string{addr, "ulimit -n", "lower -goroutines"}},
		{"processes", []string{"-test.bench=Storm", "-procs=100"}, []string{"starting process ", "ulimit -n", "lower -procs"}},
	} {
		t.Run(tt.of, func(t *testing.T) {
			cmd := exec.Command("sh", append([]string{"-c", `ulimit -n 100; exec "$0" "$@"`, os.Args[0],
				"-nets=tcp", "-clients=redigo", "-target=redis://" + addr}, tt.args...)...)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Error("no failure")
			}
			for _, want := range tt.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("output %s, want it to contain %q", out, want)
				}
			}
		})
	}
}

// TestSignalEndsTheSuite: nothing is left of a suite that is interrupted.
func TestSignalEndsTheSuite(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		for _, server := range servers(t) {
			t.Run(fmt.Sprintf("%v/%s", sig, server), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, os.Args[0], "-test.bench=Get$", "-test.benchtime=60s", "-conns=own", "-clients=resp", "-target="+server)
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				// The first benchmark line begins when the server is up.
				seen := ""
				for buf := make([]byte, 4096); !strings.Contains(seen, "BenchmarkGet"); {
					n, err := out.Read(buf)
					if err != nil {
						t.Fatalf("%v after %q", err, seen)
					}
					seen += string(buf[:n])
				}
				started := children(t, cmd.Process.Pid)
				if len(started) == 0 {
					t.Fatal("the suite has no child process, want its server")
				}
				cmd.Process.Signal(sig)
				io.Copy(io.Discard, out)
				cmd.Wait()
				deadline := time.Now().Add(10 * time.Second)
				for len(alive(started)) > 0 {
					if time.Now().After(deadline) {
						t.Fatalf("still running: %v", alive(started))
					}
					time.Sleep(20 * time.Millisecond)
				}
			})
		}
	}
}

// children lists the processes whose parent is pid.
func children(t *testing.T, pid int) (pids []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		t.Skip("SKIP: no /proc to find processes in")
	}
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		// pid (name) state ppid ...; the name may contain anything.
		_, fields, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		var state string
		var parent, child int
		fmt.Sscan(fields, &state, &parent)
		fmt.Sscan(string(text), &child)
		if parent == pid {
			pids = append(pids, child)
		}
	}
	return pids
}

// alive is the part of pids that has not ended.
func alive(pids []int) (still []int) {
	for _, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			still = append(still, pid)
		}
	}
	return still
}
