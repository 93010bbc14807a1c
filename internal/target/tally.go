package target

import (
	"bytes"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A tally is what miniredis, in its child, counts like Redis. Its connections
// read along, the requests going in and the replies coming out: only a reply
// tells whether a command was executed, queued in a transaction, or refused.
//
// Note: the hook that miniredis runs before a command sees commands but not
// their replies, nor whether a transaction is open. Commands that a Lua script
// calls are not counted, as Redis does, because they have no reply.
type tally struct {
	known func(command string) bool // whether the server has the command

	connections atomic.Int64
	clients     atomic.Int64
	commands    atomic.Int64
	errors      atomic.Int64
	reads       atomic.Int64
	in, out     atomic.Int64

	mu    sync.RWMutex
	stats map[string]*stat // by lower-case name
	codes map[string]int64 // error replies by first word
}

// A stat counts one command.
type stat struct {
	name                    string
	calls, failed, rejected atomic.Int64
}

func newTally(known func(string) bool) *tally {
	return &tally{known: known, stats: map[string]*stat{}, codes: map[string]int64{}}
}

// Containers are the commands that Redis since 7.0, and miniredis here, count
// with their subcommand: "config|get".
var Containers = []string{
	"acl", "client", "cluster", "command", "config", "function", "latency", "memory",
	"module", "object", "pubsub", "script", "slowlog", "xgroup", "xinfo",
}

// find is the stat of a command, nil if the server does not have it. name is
// lower-case, with the subcommand where it has one.
func (t *tally) find(name []byte) *stat {
	t.mu.RLock()
	st := t.stats[string(name)]
	t.mu.RUnlock()
	if st != nil {
		return st
	}
	command, _, _ := strings.Cut(string(name), "|")
	if !t.known(command) {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if st = t.stats[string(name)]; st == nil {
		st = &stat{name: string(name)}
		t.stats[st.name] = st
	}
	return st
}

// failure counts an error reply.
func (t *tally) failure(text []byte) {
	t.errors.Add(1)
	code, _, _ := bytes.Cut(text, []byte(" "))
	t.mu.Lock()
	defer t.mu.Unlock()
	// Redis, too, stops telling codes apart at some number.
	if _, ok := t.codes[string(code)]; ok || len(t.codes) < 128 {
		t.codes[string(code)]++
	}
}

// call counts one execution.
func (t *tally) call(st *stat, failed bool) {
	if st == nil {
		return
	}
	t.commands.Add(1)
	st.calls.Add(1)
	if failed {
		st.failed.Add(1)
	}
}

// A talliedConn is a connection of a client, as miniredis sees it. What it
// writes is counted before it is written, so that a client which has read a
// reply finds it counted.
type talliedConn struct {
	net.Conn
	t     *tally
	close sync.Once

	requests scanner // used by Read only
	request  requestVisitor

	mu      sync.Mutex // guards what follows, which Read and Write share
	replies scanner
	reply   replyVisitor
	pending []*stat // requests without a reply yet; nil for an unknown command
	queued  []*stat // commands of the open transaction
	multi   bool
	// subscribed is set for good by the first SUBSCRIBE, which has a reply
	// per channel: replies then belong to no request.
	subscribed bool
}

func newTalliedConn(c net.Conn, t *tally) *talliedConn {
	t.connections.Add(1)
	t.clients.Add(1)
	tc := &talliedConn{Conn: c, t: t}
	tc.request.c, tc.reply.c = tc, tc
	return tc
}

func (c *talliedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.t.reads.Add(1) // also at the end of the stream, like Redis
	c.t.in.Add(int64(n))
	c.requests.feed(p[:n], &c.request)
	return n, err
}

func (c *talliedConn) Write(p []byte) (int, error) {
	c.t.out.Add(int64(len(p)))
	c.mu.Lock()
	c.replies.feed(p, &c.reply)
	c.mu.Unlock()
	n, err := c.Conn.Write(p)
	c.t.out.Add(int64(n - len(p)))
	return n, err
}

func (c *talliedConn) Close() error {
	c.close.Do(func() { c.t.clients.Add(-1) })
	return c.Conn.Close()
}

// A requestVisitor finds out the names of the commands that come in.
type requestVisitor struct {
	c    *talliedConn
	args int
	name []byte
}

func (r *requestVisitor) value(depth int, _ byte, _ int64, head []byte) {
	if depth != 1 {
		return
	}
	switch r.args++; {
	case r.args == 1:
		r.name = appendLower(r.name[:0], head)
	case r.args == 2 && slices.Contains(Containers, string(r.name)):
		r.name = appendLower(append(r.name, '|'), head)
	}
}

func (r *requestVisitor) end() {
	st := r.c.t.find(r.name)
	r.args = 0
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes.HasSuffix(r.name, []byte("subscribe")) {
		c.subscribed = true
		c.pending = nil
	}
	if c.subscribed {
		c.t.call(st, false)
		return
	}
	c.pending = append(c.pending, st)
}

// appendLower appends the ASCII letters of s in lower case.
func appendLower(b, s []byte) []byte {
	for _, c := range s {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// A replyVisitor matches the replies that go out with the pending requests.
type replyVisitor struct {
	c     *talliedConn
	kind  byte   // of the reply
	text  []byte // of a simple reply
	index int    // of the element, in the reply of EXEC
}

func (r *replyVisitor) value(depth int, kind byte, _ int64, head []byte) {
	failed := kind == '-' || kind == '!'
	if failed {
		r.c.t.failure(head)
	}
	switch depth {
	case 0:
		r.kind, r.index = kind, 0
		r.text = append(r.text[:0], head...)
	case 1:
		c := r.c
		if c.multi && r.index < len(c.queued) && c.answers("exec") {
			c.t.call(c.queued[r.index], failed)
			r.index++
		}
	}
}

func (r *replyVisitor) end() {
	c := r.c
	if r.kind == '>' || len(c.pending) == 0 {
		return
	}
	st := c.pending[0]
	c.pending = c.pending[1:]
	failed := r.kind == '-' || r.kind == '!'
	switch {
	case c.multi && r.kind == '+' && string(r.text) == "QUEUED":
		c.queued = append(c.queued, st)
		return
	case st == nil:
		return
	case failed && bytes.HasPrefix(r.text, []byte("ERR unknown ")):
		return // a subcommand
	case failed && refused(r.text):
		st.rejected.Add(1)
		return
	case st.name == "multi" && !failed:
		c.multi = true
	case st.name == "exec" || st.name == "discard" && !failed:
		c.multi, c.queued = false, nil
	}
	c.t.call(st, failed)
}

// answers reports whether the reply under way is that of command.
func (c *talliedConn) answers(command string) bool {
	return len(c.pending) > 0 && c.pending[0] != nil && c.pending[0].name == command
}

// refused reports whether an error reply says that the command was not executed.
func refused(text []byte) bool {
	return bytes.HasPrefix(text, []byte("NOAUTH ")) || bytes.HasPrefix(text, []byte("ERR wrong number of arguments"))
}
