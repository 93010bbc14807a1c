package radix_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rcbench/adapters"
	"rcbench/adapters/radix"
)

// serve answers each command with what answer returns for its name and the
// number of its connection; nothing for "".
func serve(t *testing.T, answer func(conn int, command string) string) adapters.Config {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for r := bufio.NewReader(c); ; {
					command, err := readCommand(r)
					if err != nil {
						return
					}
					io.WriteString(c, answer(n, command))
				}
			}()
		}
	}()
	return adapters.Config{Network: "tcp", Addr: l.Addr().String(), Setup: adapters.Lean}
}

func readCommand(r *bufio.Reader) (name string, err error) {
	line := func() string {
		s, e := r.ReadString('\n')
		if e != nil {
			err = e
		}
		return strings.TrimSpace(s)
	}
	args, _ := strconv.Atoi(strings.TrimPrefix(line(), "*"))
	for i := range args {
		line() // the length; no argument here has a line end in it
		if arg := line(); i == 0 {
			name = arg
		}
	}
	return name, err
}

// After a reply that does not fit its receiver, and after a map, radix itself
// is out of step with the server.
func TestConnectionStaysInStep(t *testing.T) {
	answers := map[string]string{
		"HELLO":   "%0\r\n",
		"PING":    "+PONG\r\n",
		"INCR":    "+QUEUED\r\n",
		"SET":     "+QUEUED\r\n",
		"LRANGE":  "+QUEUED\r\n",
		"HGETALL": "%2\r\n$1\r\na\r\n%1\r\n$1\r\nb\r\n:1\r\n$1\r\nc\r\n*2\r\n-ERR no\r\n_\r\n",
	}
	cfg := serve(t, func(_ int, command string) string { return answers[command] })
	cfg.Protocol = 3
	c, err := radix.Driver.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()

	_, incr := c.Incr(ctx, "k")
	_, lrange := c.LRange(ctx, "k", 0, -1)
	for method, err := range map[string]error{"Incr": incr, "LRange": lrange, "Set": c.Set(ctx, "k", "v")} {
		if err == nil {
			t.Errorf("%s, answered QUEUED: got no error, want one", method)
		}
	}
	if err := c.Ping(ctx); err != nil {
		t.Errorf("Ping afterwards: %v", err)
	}
	got, err := c.Do(ctx, "HGETALL", "k")
	want := map[string]any{"a": map[string]any{"b": int64(1)}, "c": []any{adapters.ReplyError("ERR no"), nil}}
	if err != nil || !reflect.DeepEqual(got, any(want)) {
		t.Errorf("Do HGETALL: got %#v, %v, want %#v", got, err, want)
	}
	if err := c.Ping(ctx); err != nil {
		t.Errorf("Ping after a map: %v", err)
	}
}

// radix dials the rest of a pool in the background, and sleeps for 100 ms
// after each that fails.
func TestOpenFailsWithItsFirstConnection(t *testing.T) {
	var dials atomic.Int64
	cfg := serve(t, func(conn int, _ string) string {
		dials.Add(1)
		if conn < 3 {
			return "+OK\r\n"
		}
		return "-ERR enough\r\n"
	})
	cfg.DB = 1
	start := time.Now()
	_, err := radix.Driver.Open(t.Context(), cfg, 100)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Open: failed after %v, want soon", took)
	}
	if !errors.Is(err, adapters.ErrReply) {
		t.Errorf("Open: got error %v, want one that wraps %q", err, adapters.ErrReply)
	}
	if n := dials.Load(); n > 10 {
		t.Errorf("Open: got %d dials, want it to give up after the fourth", n)
	}
}

// radix's own Close waits for the commands in flight, and does not wake those
// that wait for a connection.
func TestCloseEndsEveryWait(t *testing.T) {
	const conns, callers = 2, 20
	blocked := make(chan struct{}, conns)
	cfg := serve(t, func(_ int, command string) string {
		if command == "BLPOP" {
			blocked <- struct{}{}
		}
		return ""
	})
	c, err := radix.Driver.Open(t.Context(), cfg, conns)
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan error, conns+callers)
	for range conns {
		go func() {
			_, err := c.Do(context.Background(), "BLPOP", "k", "0")
			results <- err
		}()
	}
	for range conns {
		<-blocked
	}
	for range callers {
		go func() {
			_, err := c.Get(context.Background(), "k")
			results <- err
		}()
	}
	time.Sleep(10 * time.Millisecond) // lets most of them wait
	c.Close()
	for range conns + callers {
		select {
		case err := <-results:
			if err == nil {
				t.Error("got no error, want one")
			}
		case <-time.After(5 * time.Second):
			t.Fatal("a command still waits, 5 s after Close")
		}
	}
}

func TestIOTimeoutIsRefused(t *testing.T) {
	cfg := adapters.Config{Network: "tcp", Addr: "127.0.0.1:1", IOTimeout: time.Second}
	_, err := radix.Driver.Dial(t.Context(), cfg)
	if !errors.Is(err, adapters.ErrUnsupported) {
		t.Errorf("Dial: got error %v, want one that wraps %q", err, adapters.ErrUnsupported)
	}
}
