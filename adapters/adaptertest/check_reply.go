package adaptertest

import (
	"context"
	"strings"

	"rcbench/adapters"
)

var replyChecks = []Check{{
	Name:  "missing is ErrNil",
	Doc:   "A missing key or member is ErrNil, for each method that returns one.",
	Modes: anyMode,
	Run:   checkMissing,
}, {
	Name:  "error reply is an error",
	Doc:   "An error reply wraps ErrReply and has the server's text; the connection is usable after it.",
	Modes: anyMode,
	Run:   checkErrorReply,
}, {
	Name:  "unexpected reply is an error",
	Doc:   "A reply that is no error, but is not what the command answers, is no success.",
	Modes: []Mode{Dial},
	Run:   checkUnexpected,
}, {
	Name:  "do",
	Doc:   "Do returns status, bulk, integer, nil and nested arrays as the contract says.",
	Modes: anyMode,
	Run:   checkDo,
}}

func checkMissing(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	for _, call := range calls {
		if call.misses {
			f.is(call.method+" of a missing key", call.run(ctx, c, e.key("missing")), adapters.ErrNil)
		}
	}
	v, err := c.Get(ctx, e.key("missing"))
	f.is("Get", err, adapters.ErrNil)
	f.equal("Get: the value that comes with ErrNil", len(v), 0)
	return f.err()
}

func checkErrorReply(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	for _, call := range calls {
		if call.spoils == nil {
			continue
		}
		key := e.key(call.method)
		f.store(ctx, e, onKey(call.spoils, key)...)
		err := call.run(ctx, c, key)
		input := call.method + " of a key that holds something else"
		f.is(input, err, adapters.ErrReply)
		if err != nil && !strings.Contains(err.Error(), "WRONGTYPE Operation against a key") {
			f.addf("%s: got error %q, want the server's text in it", input, err)
		}
		f.ok("Ping after "+input, c.Ping(ctx))
	}

	f.store(ctx, e, "SET", e.key("text"), "no number")
	_, err = c.Incr(ctx, e.key("text"))
	f.is("Incr of a text", err, adapters.ErrReply)
	_, err = c.Do(ctx, "NOSUCHCOMMAND", "x")
	f.is("Do of an unknown command", err, adapters.ErrReply)
	if err != nil && !strings.Contains(err.Error(), "unknown command") {
		f.addf("Do of an unknown command: got error %q, want the server's text in it", err)
	}
	f.ok("Set after errors", c.Set(ctx, e.key("k"), "v"))
	v, err := c.Get(ctx, e.key("k"))
	f.text("Get after errors", v, err, "v")
	return f.err()
}

// checkUnexpected has the server answer QUEUED, which no method waits for. A
// client may take that for the end of the connection, so each gets its own.
func checkUnexpected(ctx context.Context, e *Env) error {
	var f findings
	queued := func(name string, run func(c adapters.Client)) {
		c, err := e.client(ctx)
		if !f.ok(name, err) {
			return
		}
		defer c.Close()
		if _, err := c.Do(ctx, "MULTI"); f.ok("Do MULTI", err) {
			run(c)
		}
	}
	for _, call := range calls {
		switch call.method {
		case "Do", "Get", "LPop", "RPop", "SPop":
			// A string is what these return, and a status is one to
			// some clients.
			continue
		}
		queued(call.method, func(c adapters.Client) {
			f.unknown(call.method+", answered QUEUED", call.run(ctx, c, e.key(call.method)))
		})
	}
	queued("Exec of a Set", func(c adapters.Client) {
		b := c.NewBatch(1)
		b.Set(e.key("batch"), "v")
		f.unknown("Exec of a Set, answered QUEUED", b.Exec(ctx))
		f.unknown("Err of a Set, answered QUEUED", b.Err(0))
	})
	queued("Exec of an Incr", func(c adapters.Client) {
		b := c.NewBatch(1)
		b.Incr(e.key("batch counter"))
		f.unknown("Exec of an Incr, answered QUEUED", b.Exec(ctx))
		_, err := b.Int(0)
		f.unknown("Int of an Incr, answered QUEUED", err)
	})
	return f.err()
}

func checkDo(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	k, list, stream := e.key("k"), e.key("list"), e.key("stream")
	for _, step := range []struct {
		want any
		args []string
	}{
		{"OK", []string{"SET", k, "a\r\nb\x00"}},
		{"a\r\nb\x00", []string{"GET", k}},
		{"OK", []string{"SET", k, ""}},
		{"", []string{"GET", k}},
		{"PONG", []string{"PING"}},
		{int64(2), []string{"RPUSH", list, "x", "y"}},
		{int64(-1), []string{"TTL", k}},
		{[]any{"x", "y"}, []string{"LRANGE", list, "0", "-1"}},
		{[]any{}, []string{"LRANGE", e.key("missing"), "0", "-1"}},
		{[]any{"", nil, ""}, []string{"MGET", k, e.key("missing"), k}},
		{"1-1", []string{"XADD", stream, "1-1", "f", "v"}},
		{"1-2", []string{"XADD", stream, "1-2", "g", "w"}},
		{[]any{[]any{"1-1", []any{"f", "v"}}, []any{"1-2", []any{"g", "w"}}}, []string{"XRANGE", stream, "-", "+"}},
	} {
		got, err := c.Do(ctx, step.args...)
		f.got("Do "+show(step.args), got, err, step.want)
	}

	for _, args := range [][]string{
		{"GET", e.key("missing")},
		{"LPOP", e.key("missing"), "2"},
	} {
		got, err := c.Do(ctx, args...)
		f.is("Do "+show(args), err, adapters.ErrNil)
		f.equal("Do "+show(args), got, nil)
	}
	return f.err()
}
