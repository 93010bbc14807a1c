package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rcbench/adapters"
)

var batchChecks = []Check{{
	Name:  "batch",
	Doc:   "Every command of a Batch is run, and its reply is at its index.",
	Modes: anyMode,
	Run:   checkBatch,
}, {
	Name:  "batch errors stay at their index",
	Doc:   "An error reply or a missing key in the middle spoils no other reply; Exec returns the first error, a missing key is none.",
	Modes: anyMode,
	Run:   checkBatchErrors,
}, {
	Name:  "batch is empty",
	Doc:   "Exec and ExecTx of no commands send nothing.",
	Modes: anyMode,
	Run:   checkBatchEmpty,
}, {
	Name:  "batch is used again",
	Doc:   "After Reset a Batch is empty; to queue before it panics; values that were read stay.",
	Modes: anyMode,
	Run:   checkBatchReuse,
}, {
	Name:  "batch is executed once",
	Doc:   "A second Exec or ExecTx before Reset panics and sends nothing; the results of the first stand.",
	Modes: anyMode,
	Run:   checkBatchOnce,
}, {
	Name:  "batch is larger than any buffer",
	Doc:   "A thousand commands of a kibibyte and three of a mebibyte are sent and answered.",
	Modes: anyMode,
	Run:   checkBatchLarge,
}, {
	Name:  "batch gives its connection back",
	Doc:   "Exec, ExecTx and Reset leave the only connection of a pool to others.",
	Modes: []Mode{Open},
	Run:   checkBatchGivesBack,
}}

// execs are the two ways to run a Batch, which have the same results.
var execs = []struct {
	name string
	exec func(adapters.Batch, context.Context) error
}{
	{"Exec", adapters.Batch.Exec},
	{"ExecTx", adapters.Batch.ExecTx},
}

func checkBatch(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	for _, how := range execs {
		k := e.key(how.name)
		f.store(ctx, e, "SET", k+"get", "stored")
		f.store(ctx, e, "SET", k+"incr", "41")
		f.store(ctx, e, "RPUSH", k+"rpush", "a", "b")
		f.store(ctx, e, "SADD", k+"sadd", "m")

		b := c.NewBatch(len(batchCommands))
		queueAll(b, k)
		f.equal("Len", b.Len(), len(batchCommands))
		f.ok(how.name, how.exec(b, ctx))

		v, err := b.Bytes(0)
		f.text(how.name+": Bytes of Get", v, err, "stored")
		f.ok(how.name+": Err of Set", b.Err(1))
		for i, want := range map[int]int64{2: 42, 3: 1, 4: 3, 5: 0, 6: 1} {
			n, err := b.Int(i)
			f.got(how.name+": Int of "+batchCommands[i], n, err, want)
			f.ok(how.name+": Err of "+batchCommands[i], b.Err(i))
		}
		f.server(ctx, e, []any{"v", "42"}, "MGET", k+"set", k+"incr")
		f.server(ctx, e, "v", "HGET", k+"hset", "f")
		f.server(ctx, e, []any{"a", "b", "v"}, "LRANGE", k+"rpush", "0", "-1")
		f.server(ctx, e, "1.5", "ZSCORE", k+"zadd", "m")
	}
	return f.err()
}

func checkBatchErrors(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	list, text, missing := e.key("list"), e.key("text"), e.key("missing")
	f.store(ctx, e, "RPUSH", list, "x")
	f.store(ctx, e, "SET", text, "no number")
	b := c.NewBatch(0)
	for _, how := range execs {
		b.Set(e.key("k"), "v")
		b.Get(missing)
		b.Incr(text) // the first error reply
		b.Get(list)  // the second
		b.Get(e.key("k"))
		b.HSet(list, "f", "v")
		b.Incr(e.key(how.name))
		err := how.exec(b, ctx)
		f.is(how.name, err, adapters.ErrReply)
		if err != nil && !strings.Contains(err.Error(), "not an integer") {
			f.addf("%s: got error %q, want the first of the errors, with the server's text", how.name, err)
		}

		f.ok("Err of Set", b.Err(0))
		v, err := b.Bytes(1)
		f.is("Bytes of a missing key", err, adapters.ErrNil)
		f.equal("Bytes of a missing key", len(v), 0)
		f.is("Err of a missing key", b.Err(1), adapters.ErrNil)
		_, err = b.Int(2)
		f.is("Int of an Incr of a text", err, adapters.ErrReply)
		_, err = b.Bytes(3)
		f.is("Bytes of a list", err, adapters.ErrReply)
		f.is("Err of a Get of a list", b.Err(3), adapters.ErrReply)
		if err != nil && !strings.Contains(err.Error(), "WRONGTYPE Operation against a key") {
			f.addf("Bytes of a list: got error %q, want the server's text in it", err)
		}
		v, err = b.Bytes(4)
		f.text("Bytes after errors", v, err, "v")
		f.is("Err of an HSet of a list", b.Err(5), adapters.ErrReply)
		n, err := b.Int(6)
		f.got("Int after errors", n, err, int64(1))
		b.Reset()

		b.Get(missing)
		b.Get(missing)
		f.ok(how.name+" of missing keys only", how.exec(b, ctx))
		_, err = b.Bytes(1)
		f.is("Bytes of a missing key", err, adapters.ErrNil)
		b.Reset()
		f.ok("Ping afterwards", c.Ping(ctx))
	}
	return f.err()
}

func checkBatchEmpty(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	sent, err := e.calls(ctx, func() {
		for _, n := range []int{0, 10} {
			b := c.NewBatch(n)
			f.equal("Len", b.Len(), 0)
			f.ok("Exec", b.Exec(ctx))
			b.Reset()
			f.ok("ExecTx", b.ExecTx(ctx))
			b.Reset()
			b.Get(e.key("k"))
			b.Reset()
			f.equal("Len after Reset", b.Len(), 0)
			f.ok("Exec after Reset", b.Exec(ctx))
		}
	})
	f.got("commands that reached the server", sent, err, map[string]int64{})
	f.ok("Ping afterwards", c.Ping(ctx))
	return f.err()
}

func checkBatchReuse(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	b := c.NewBatch(2)
	var kept [][]byte
	for round := range 20 {
		// Longer and shorter than before and than the hint.
		n := 1 + (round*7)%11
		how := execs[round%len(execs)]
		for i := range n {
			b.Set(e.key(fmt.Sprint(i)), fmt.Sprint("round ", round, " i ", i))
			b.Get(e.key(fmt.Sprint(i)))
		}
		f.equal("Len", b.Len(), 2*n)
		f.ok(how.name, how.exec(b, ctx))
		for i := range n {
			f.ok("Err", b.Err(2*i))
			v, err := b.Bytes(2*i + 1)
			f.text("Bytes", v, err, fmt.Sprint("round ", round, " i ", i))
			if i == 0 {
				kept = append(kept, v)
			}
		}
		f.equal("panics when a command is queued before Reset", panics(func() { b.Get(e.key("k")) }), true)
		b.Reset()
		f.equal("Len after Reset", b.Len(), 0)
	}
	for round, v := range kept {
		f.equal("Bytes, kept", string(v), fmt.Sprint("round ", round, " i 0"))
	}
	return f.err()
}

func checkBatchOnce(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	var f findings
	b := c.NewBatch(2)
	for _, how := range execs {
		for _, again := range execs {
			k := e.key(how.name + again.name)
			b.Incr(k)
			b.Get(k)
			f.ok(how.name, how.exec(b, ctx))
			f.equal(how.name+", then "+again.name+": panics", panics(func() { again.exec(b, ctx) }), true)
			v, err := b.Bytes(1)
			f.text("Bytes after both", v, err, "1")
			f.server(ctx, e, "1", "GET", k)
			b.Reset()

			b.Incr(k)
			f.is(how.name+" with a done context", how.exec(b, done), context.Canceled)
			f.equal(how.name+" with a done context, then "+again.name+": panics", panics(func() { again.exec(b, ctx) }), true)
			f.is("Err after both", b.Err(0), context.Canceled)
			b.Reset()
			f.server(ctx, e, "1", "GET", k)
		}
	}
	f.ok("Ping afterwards", c.Ping(ctx))
	return f.err()
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

func checkBatchLarge(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	for _, size := range []struct{ commands, bytes int }{{1000, 1 << 10}, {3, 1 << 20}} {
		b := c.NewBatch(size.commands)
		value := func(i int) string {
			s := fmt.Sprintf("value %d of %d ", i, size.commands)
			return s + strings.Repeat("x", size.bytes-len(s))
		}
		keys := make([]string, size.commands)
		for i := range keys {
			keys[i] = e.key(fmt.Sprint(size.bytes, " ", i))
			b.Set(keys[i], value(i))
		}
		if !f.ok("Exec of Sets", b.Exec(ctx)) {
			break
		}
		for i := range keys {
			f.ok("Err of Set", b.Err(i))
		}
		b.Reset()
		for i := range keys {
			b.Get(keys[i])
		}
		f.ok("Exec of Gets", b.Exec(ctx))
		for i := range keys {
			v, err := b.Bytes(i)
			f.text("Bytes", v, err, value(i))
		}
		b.Reset()
		for i := range keys {
			b.Set(keys[i], value(i))
			b.Get(keys[i])
		}
		f.ok("ExecTx of Sets and Gets", b.ExecTx(ctx))
		for i := range keys {
			v, err := b.Bytes(2*i + 1)
			f.text("Bytes after ExecTx", v, err, value(i))
		}
		_, err := c.Del(ctx, keys...)
		f.ok("Del", err)
	}
	return f.err()
}

func checkBatchGivesBack(ctx context.Context, e *Env) error {
	cfg, err := e.config()
	if err != nil {
		return err
	}
	c, err := e.connect(ctx, Open, cfg, 1)
	if err != nil {
		return err
	}
	var f findings
	b := c.NewBatch(2)
	for _, how := range append(execs, struct {
		name string
		exec func(adapters.Batch, context.Context) error
	}{"Reset", func(b adapters.Batch, _ context.Context) error { b.Reset(); return nil }}) {
		b.Set(e.key("k"), "v")
		f.ok(how.name, how.exec(b, ctx))
		err, late := within("Ping after "+how.name, async(func() error { return c.Ping(ctx) }))
		f.ok("Ping after "+how.name, errors.Join(err, late))
		b.Reset()
	}
	return f.err()
}
