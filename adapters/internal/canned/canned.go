// Package canned shows, for the test of a driver, that its adapter adds no
// allocation to what the client allocates by itself: against a server that
// runs in the process of the test, because testing.AllocsPerRun counts the
// allocations of the process, and that has none, because it would count those
// too.
package canned

import (
	"bufio"
	"bytes"
	"net"
	"strconv"
	"testing"

	"rcbench/adapters"
)

// Key is what to GET; any key will do.
//
// Note: it is a variable because a constant is put into an interface without
// an allocation, which no key of a program is.
var Key = "rcbench:canned"

// value is what the server answers to it.
const value = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// replies are the answers to all that the clients send with a lean setup.
var replies = []struct{ command, reply []byte }{
	{[]byte("GET"), []byte("$" + strconv.Itoa(len(value)) + "\r\n" + value + "\r\n")},
	{[]byte("PING"), []byte("+PONG\r\n")},
	{[]byte("HELLO"), []byte("%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$5\r\nproto\r\n:3\r\n")},
}

var unknown = []byte("-ERR unknown command\r\n")

// Serve listens until the test ends. It returns the way there, with a lean
// setup.
func Serve(tb testing.TB) adapters.Config {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go serve(nc)
		}
	}()
	return adapters.Config{Network: "tcp", Addr: l.Addr().String(), Setup: adapters.Lean}
}

func serve(nc net.Conn) {
	defer nc.Close()
	for r := bufio.NewReader(nc); ; {
		reply, err := answer(r)
		if err != nil {
			return
		}
		if _, err := nc.Write(reply); err != nil {
			return
		}
	}
}

// answer reads one command and returns the reply to it.
func answer(r *bufio.Reader) (reply []byte, err error) {
	args, err := header(r)
	if err != nil {
		return nil, err
	}
	reply = unknown
	for i := range args {
		n, err := header(r)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			name, err := r.Peek(n)
			if err != nil {
				return nil, err
			}
			for _, known := range replies {
				if bytes.EqualFold(name, known.command) {
					reply = known.reply
				}
			}
		}
		if _, err := r.Discard(n + len("\r\n")); err != nil {
			return nil, err
		}
	}
	return reply, nil
}

// header reads the number of a line like "*3" or "$5".
func header(r *bufio.Reader) (int, error) {
	line, err := r.ReadSlice('\n')
	n := 0
	for _, c := range line {
		if '0' <= c && c <= '9' {
			n = 10*n + int(c-'0')
		}
	}
	return n, err
}

// A Get is one GET of Key.
type Get func() ([]byte, error)

// NoMore fails unless adapter allocates as often as direct, which is the same
// command as a user of the client writes it.
func NoMore(t *testing.T, mode string, direct, adapter Get) {
	t.Helper()
	if want, got := Allocs(t, direct), Allocs(t, adapter); got != want {
		t.Errorf("%s: allocations per GET: got %v through the adapter, want %v as from the client called directly", mode, got, want)
	}
}

// Allocs is the number of allocations of one get. Under the race detector it
// skips the test, because sync.Pool then drops some of what it is given.
func Allocs(t *testing.T, get Get) float64 {
	t.Helper()
	if raceDetector {
		t.Skip("allocations are not those of a program without the race detector")
	}
	const runs = 500
	return testing.AllocsPerRun(runs, func() {
		v, err := get()
		if err != nil || string(v) != value {
			t.Fatalf("GET: got %q and error %v, want %q", v, err, value)
		}
	})
}
