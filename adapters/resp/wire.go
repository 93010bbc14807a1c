package resp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"rcbench/adapters"
)

// Limits of a reply. What its header announces is allocated as it arrives, and
// ahead of that no further than the limits say.
const (
	readBuffer = 16 << 10
	maxBulk    = 512 << 20 // proto-max-bulk-len, of a server that is not told otherwise
	bulkAhead  = 1 << 20   // bytes of a bulk that are allocated at once
	elemsAhead = 1 << 10   // elements of an array that are allocated at once
	maxDepth   = 64        // arrays within arrays; no command answers more than a few
)

// A wire is one connection. Commands are appended to out, flushed with one
// write, and their replies read in order. It is used by one goroutine at a
// time.
type wire struct {
	nc      net.Conn
	br      *bufio.Reader
	out     []byte
	timeout time.Duration // for each exchange; 0 is none

	err   error       // the first failure of the transport; sticks
	stop  func() bool // disarms the context's watch
	depth int         // of the array, or push, that is being read
}

func newWire(nc net.Conn, timeout time.Duration) *wire {
	return &wire{nc: nc, br: bufio.NewReaderSize(nc, readBuffer), timeout: timeout}
}

// begin begins an exchange, which the timeout and ctx can end. A context that
// cannot be cancelled costs nothing.
//
// The deadline of the timeout is set before ctx is watched: the other way
// round, it would replace the one that ends the exchange if ctx were done in
// between.
func (w *wire) begin(ctx context.Context) {
	if w.timeout > 0 {
		w.nc.SetDeadline(time.Now().Add(w.timeout))
	}
	if ctx.Done() != nil {
		w.stop = context.AfterFunc(ctx, func() { w.nc.SetDeadline(aLongTimeAgo) })
	}
}

// end ends the exchange, whose result was err. An exchange that ctx ended
// leaves the connection unusable: a late reply would answer the next command.
// That is so, and w.err says it, also if ctx was too late to keep the result
// from being known.
func (w *wire) end(ctx context.Context, err error) error {
	if w.stop == nil {
		return err
	}
	stopped := w.stop()
	w.stop = nil
	if !stopped {
		if w.err == nil {
			w.err = fmt.Errorf("resp: connection given up: %w", ctx.Err())
		}
		if err != nil {
			return ctx.Err()
		}
	}
	return err
}

// command appends one command.
func (w *wire) command(args ...string) { w.out = appendCommand(w.out, args...) }

func appendCommand(b []byte, args ...string) []byte {
	b = appendHeader(b, '*', len(args))
	for _, a := range args {
		b = appendBulk(b, a)
	}
	return b
}

func appendHeader(b []byte, kind byte, n int) []byte {
	if n < 10 { // most headers
		return append(b, kind, byte('0'+n), '\r', '\n')
	}
	b = append(b, kind)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, '\r', '\n')
}

func appendBulk(b []byte, s string) []byte {
	b = appendHeader(b, '$', len(s))
	b = append(b, s...)
	return append(b, '\r', '\n')
}

// flush sends what was appended. Its error is kept for the read that follows.
func (w *wire) flush() {
	w.send(w.out)
	if cap(w.out) > 1<<20 {
		w.out = nil // one large value does not stay for ever
	}
	w.out = w.out[:0]
}

func (w *wire) send(b []byte) {
	if w.err != nil {
		return
	}
	if _, err := w.nc.Write(b); err != nil {
		w.fail(err)
		return
	}
	if exchanges.Load() >= crowd {
		runtime.Gosched()
	}
}

// exchanges counts the exchanges that are under way on all connections, and
// crowd is how many make it likely that other goroutines are ready to run.
//
// The reply cannot be there yet when the request has just been written. A read
// at once would be a system call in vain, and the goroutine would be parked and
// woken through the poller. With others ready it lets them run first, and
// then mostly finds its reply: some 10 % more GETs a second with 100 goroutines
// on two CPUs. A lone caller would only lose its CPU.
var exchanges atomic.Int64

const crowd = 8

// fail keeps the first failure of the transport and returns it.
func (w *wire) fail(err error) error {
	if w.err == nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // the server closed; a reply was due
		}
		w.err = fmt.Errorf("resp: %s: %w", w.nc.RemoteAddr(), err)
	}
	return w.err
}

// header reads the first line of a reply without its end. The line is valid
// until the next read.
func (w *wire) header() (kind byte, line []byte, err error) {
	if w.err != nil {
		return 0, nil, w.err
	}
	for {
		line, err = w.br.ReadSlice('\n')
		if err != nil {
			return 0, nil, w.fail(err)
		}
		if len(line) < 3 || line[len(line)-2] != '\r' {
			return 0, nil, w.fail(fmt.Errorf("protocol error: line %.40q", line))
		}
		kind, line = line[0], line[1:len(line)-2]
		if kind != '>' {
			return kind, line, nil
		}
		if err := w.push(line); err != nil {
			return 0, nil, err
		}
	}
}

// push skips a push of RESP3, which answers no command.
func (w *wire) push(line []byte) error {
	n, err := w.integer(line)
	if err != nil {
		return err
	}
	if err := w.enter(); err != nil {
		return err
	}
	for range n {
		_, _ = w.any() // an error reply in a push is nobody's
		if w.err != nil {
			return w.err
		}
	}
	w.depth--
	return nil
}

// enter begins an array or a push, which the caller leaves with depth--.
func (w *wire) enter() error {
	if w.depth == maxDepth {
		return w.fail(fmt.Errorf("protocol error: more than %d arrays within one another", maxDepth))
	}
	w.depth++
	return nil
}

// integer parses the decimal of a header.
func (w *wire) integer(line []byte) (int64, error) {
	digits, negative := line, false
	if len(line) > 0 && line[0] == '-' {
		digits, negative = line[1:], true
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, w.fail(fmt.Errorf("protocol error: integer %.40q", line))
	}
	var n uint64 // has room for 19 digits
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, w.fail(fmt.Errorf("protocol error: integer %.40q", line))
		}
		n = n*10 + uint64(d-'0')
	}
	switch {
	case negative && n <= 1<<63:
		return -int64(n), nil
	case !negative && n < 1<<63:
		return int64(n), nil
	}
	return 0, w.fail(fmt.Errorf("protocol error: integer %.40q", line))
}

// body reads n bytes and the line end after them into memory of its own.
func (w *wire) body(n int64) ([]byte, error) {
	if n > maxBulk {
		return nil, w.fail(fmt.Errorf("protocol error: bulk of %d bytes", n))
	}
	v := make([]byte, min(n, bulkAhead))
	rest := v
	if n+2 > readBuffer {
		// Too large to look at as a whole: it goes past the buffer.
		for read := 0; ; {
			if _, err := io.ReadFull(w.br, v[read:]); err != nil {
				return nil, w.fail(err)
			}
			if read = len(v); int64(read) == n {
				break
			}
			v = append(v, make([]byte, min(n-int64(read), int64(read)))...)
		}
		rest = nil
	}
	b, err := w.br.Peek(len(rest) + 2)
	if err != nil {
		return nil, w.fail(err)
	}
	if end := b[len(rest):]; end[0] != '\r' || end[1] != '\n' {
		return nil, w.fail(fmt.Errorf("protocol error: %q after a bulk of %d bytes", end, n))
	}
	copy(rest, b)
	w.br.Discard(len(b))
	return v, nil
}

// bulk reads a bulk reply; adapters.ErrNil if it is missing.
func (w *wire) bulk() ([]byte, error) {
	if v, ok := w.wholeBulk(); ok {
		return v, nil
	}
	kind, line, err := w.header()
	if err != nil {
		return nil, err
	}
	if kind != '$' {
		return nil, w.other("bulk", kind, line)
	}
	n, err := w.integer(line)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, adapters.ErrNil
	}
	return w.body(n)
}

// wholeBulk reads a bulk that is in the read buffer from its first to its last
// byte, which most are, in one look. It leaves the buffer alone if there is
// anything else.
func (w *wire) wholeBulk() ([]byte, bool) {
	if w.err != nil {
		return nil, false
	}
	w.br.Peek(1) // fills an empty buffer; an error comes again
	b, _ := w.br.Peek(w.br.Buffered())
	if len(b) == 0 || b[0] != '$' {
		return nil, false
	}
	n, i := 0, 1
	for i < len(b) && i < 6 && '0' <= b[i] && b[i] <= '9' {
		n = n*10 + int(b[i]-'0')
		i++
	}
	start, end := i+2, i+2+n
	if i == 1 || end+2 > len(b) || string(b[i:start]) != "\r\n" || string(b[end:end+2]) != "\r\n" {
		return nil, false
	}
	v := make([]byte, n)
	copy(v, b[start:end])
	w.br.Discard(end + 2)
	return v, true
}

// int reads an integer reply.
func (w *wire) int() (int64, error) {
	kind, line, err := w.header()
	if err != nil {
		return 0, err
	}
	if kind != ':' {
		return 0, w.other("integer", kind, line)
	}
	return w.integer(line)
}

// status reads a status reply and checks that it is want.
func (w *wire) status(want string) error {
	kind, line, err := w.header()
	if err != nil {
		return err
	}
	if kind != '+' {
		return w.other("status", kind, line)
	}
	if string(line) != want {
		return adapters.Unexpected("resp", string(line), want)
	}
	return nil
}

// array reads the header of an array; adapters.ErrNil if it is missing.
func (w *wire) array() (int64, error) {
	kind, line, err := w.header()
	if err != nil {
		return 0, err
	}
	if kind != '*' {
		return 0, w.other("array", kind, line)
	}
	n, err := w.integer(line)
	if err == nil && n < 0 {
		return 0, adapters.ErrNil
	}
	return n, err
}

// other is the error for a reply of another kind than the command answers:
// the server's error, a null of RESP3, or a stream that is out of step, which
// ends the connection.
func (w *wire) other(want string, kind byte, line []byte) error {
	switch kind {
	case '-':
		return adapters.ReplyError(line)
	case '_':
		return adapters.ErrNil
	}
	return w.fail(fmt.Errorf("protocol error: reply %.40q, want %s", string(kind)+string(line), want))
}

// any reads a reply of any kind, in the form that Client.Do returns.
func (w *wire) any() (any, error) {
	kind, line, err := w.header()
	if err != nil {
		return nil, err
	}
	switch kind {
	case '+', '(':
		return string(line), nil
	case '-', '_':
		return nil, w.other("", kind, line)
	case ':':
		return w.integer(line)
	case '#':
		return string(line) == "t", nil
	case ',':
		f, err := strconv.ParseFloat(string(line), 64)
		if err != nil {
			return nil, w.fail(fmt.Errorf("protocol error: double %.40q", line))
		}
		return f, nil
	case '$', '=', '!', '*', '~', '%':
		n, err := w.integer(line)
		if err != nil {
			return nil, err
		}
		return w.sized(kind, n)
	}
	return nil, w.other("a RESP reply", kind, line)
}

// sized reads the rest of a reply whose header has a size.
func (w *wire) sized(kind byte, n int64) (any, error) {
	if n < 0 {
		return nil, adapters.ErrNil
	}
	switch kind {
	case '*', '~':
		return w.elements(n)
	case '%':
		if n > math.MaxInt64/2 {
			return nil, w.fail(fmt.Errorf("protocol error: map of %d pairs", n))
		}
		return w.elements(2 * n)
	}
	b, err := w.body(n)
	switch {
	case err != nil:
		return nil, err
	case kind == '!':
		return nil, adapters.ReplyError(b)
	case kind == '=' && len(b) > 4:
		b = b[4:] // a verbatim string begins with its format: "txt:"
	}
	return string(b), nil
}

// elements reads n replies. Those that are errors are errors, as in EXEC's.
func (w *wire) elements(n int64) ([]any, error) {
	if err := w.enter(); err != nil {
		return nil, err
	}
	elems := make([]any, 0, min(n, elemsAhead))
	for range n {
		v, err := w.any()
		if w.err != nil {
			return nil, err
		}
		if errors.Is(err, adapters.ErrReply) {
			v = err
		}
		elems = append(elems, v)
	}
	w.depth--
	return elems, nil
}
