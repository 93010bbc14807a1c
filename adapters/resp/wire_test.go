package resp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"rcbench/adapters"
)

// A fed connection reads what it is fed, and notes its deadline.
type fed struct {
	net.Conn
	io.Reader

	mu       sync.Mutex
	deadline time.Time
	expired  chan struct{} // closed when the deadline is one that has passed
}

func feed(r io.Reader) *fed { return &fed{Reader: r, expired: make(chan struct{})} }

func (f *fed) Read(b []byte) (int, error)  { return f.Reader.Read(b) }
func (f *fed) Write(b []byte) (int, error) { return len(b), nil }
func (f *fed) RemoteAddr() net.Addr        { return &net.TCPAddr{} }
func (f *fed) Close() error                { return nil }

func (f *fed) SetDeadline(t time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deadline = t
	if t.Equal(aLongTimeAgo) {
		close(f.expired)
	}
	return nil
}

// A context that is done between the begin of an exchange and its first byte
// ends it, also if there is a timeout.
func TestCancelBeforeSend(t *testing.T) {
	nc := feed(strings.NewReader(""))
	w := newWire(nc, time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	w.begin(ctx)
	cancel()
	<-nc.expired
	w.command("PING")
	w.flush()
	if !nc.deadline.Equal(aLongTimeAgo) {
		t.Errorf("deadline of a cancelled exchange: got %v, want %v", nc.deadline, aLongTimeAgo)
	}
}

// A context that ends with the last byte of the handshake leaves no connection.
func TestCancelAfterHandshake(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := newWire(feed(readFunc(func(b []byte) (int, error) {
		cancel()
		return copy(b, "+OK\r\n"), nil
	})), 0)
	err := w.handshake(ctx, adapters.Config{DB: 1})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("handshake: got error %v, want one that wraps %q", err, context.Canceled)
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }

func TestInteger(t *testing.T) {
	for _, n := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		w := newWire(feed(strings.NewReader(fmt.Sprintf(":%d\r\n", n))), 0)
		if got, err := w.int(); err != nil || got != n {
			t.Errorf("got %d and error %v, want %d", got, err, n)
		}
	}
	for _, bad := range []string{"", "-", "1x", "9223372036854775808", "-9223372036854775809", "10000000000000000000"} {
		w := newWire(feed(strings.NewReader(":"+bad+"\r\n")), 0)
		if got, err := w.int(); err == nil {
			t.Errorf("%q: got %d, want an error", bad, got)
		}
	}
}

// TestLargeBulk has bulks around the sizes at which they are read in another
// way.
func TestLargeBulk(t *testing.T) {
	for _, size := range []int{readBuffer - 2, readBuffer - 1, bulkAhead, bulkAhead + 1, 3*bulkAhead - 1, 4 * bulkAhead} {
		want := strings.Repeat("0123456789", size/10+1)[:size]
		w := newWire(feed(strings.NewReader("$"+strconv.Itoa(size)+"\r\n"+want+"\r\n:1\r\n")), 0)
		if got, err := w.bulk(); err != nil || string(got) != want {
			t.Errorf("bulk of %d bytes: got %d bytes and error %v", size, len(got), err)
		}
		if n, err := w.int(); err != nil || n != 1 {
			t.Errorf("the reply after a bulk of %d bytes: got %d and error %v, want 1", size, n, err)
		}
	}
}

// FuzzReply feeds bytes to each way to read a reply. None may panic, or allocate
// for what a header announces and does not arrive; and it is of no consequence
// in which pieces the bytes arrive.
func FuzzReply(f *testing.F) {
	for _, s := range []string{
		"+OK\r\n", "-ERR no\r\n", ":-42\r\n", "$5\r\na\r\nbc\r\n", "$-1\r\n", "*-1\r\n", "_\r\n",
		"#t\r\n", ",1.5\r\n", ",nan\r\n", "(123\r\n", "=6\r\ntxt:ab\r\n", "!5\r\nERR x\r\n",
		"*3\r\n$1\r\na\r\n:1\r\n*1\r\n-ERR no\r\n", "%1\r\n+a\r\n~1\r\n:1\r\n",
		"*2\r\n$1\r\nm\r\n$3\r\n1.5\r\n", "*2\r\n$1\r\nm\r\n,1.5\r\n",
		">2\r\n+invalidate\r\n*1\r\n+k\r\n:1\r\n", ">1\r\n-ERR no\r\n:1\r\n", ">-1\r\n:1\r\n",
		// Headers that lie.
		"$536870912\r\nabc", "$536870913\r\n", "$9223372036854775807\r\n", "*2147483647\r\n:1\r\n",
		"*9223372036854775807\r\n", "%4611686018427387904\r\n", "%9223372036854775807\r\n",
		">9223372036854775807\r\n-E\r\n", ":99999999999999999999\r\n",
		strings.Repeat("*1\r\n", 1000), strings.Repeat("*1000000\r\n", 1000), strings.Repeat(">1\r\n", 1000),
	} {
		f.Add([]byte(s))
	}
	readers := map[string]func(*wire) (any, error){
		"any":     (*wire).any,
		"bulk":    func(w *wire) (any, error) { return w.bulk() },
		"int":     func(w *wire) (any, error) { return w.int() },
		"status":  func(w *wire) (any, error) { return nil, w.status("OK") },
		"strings": func(w *wire) (any, error) { return w.strings() },
		"scored":  func(w *wire) (any, error) { return w.scored() },
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		for name, read := range readers {
			// 3 bytes can be an element of 16, in an array that has grown by
			// copying; the rest is for one header that lies at each depth.
			limit := uint64(64*len(input) + bulkAhead + maxDepth*elemsAhead*16 + 1<<20)
			var got string
			if n := allocated(func() { got = all(read, strings.NewReader(string(input))) }); n > limit {
				t.Errorf("%s of %d bytes %.80q: got %d bytes allocated, want at most %d", name, len(input), input, n, limit)
			}
			if pieces := all(read, iotest.OneByteReader(strings.NewReader(string(input)))); pieces != got {
				t.Errorf("%s of %.80q: got %.200s byte by byte, want %.200s as from the whole", name, input, pieces, got)
			}
		}
	})
}

// all reads replies until the connection has failed, and shows them.
func all(read func(*wire) (any, error), r io.Reader) string {
	var s strings.Builder
	for w := newWire(feed(r), 0); w.err == nil; {
		v, err := read(w)
		if s.Len() < 1<<10 {
			fmt.Fprintf(&s, "%.200q %v\n", fmt.Sprint(v), err)
		}
	}
	return s.String()
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
