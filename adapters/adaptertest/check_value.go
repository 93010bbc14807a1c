package adaptertest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rcbench/adapters"
)

var valueChecks = []Check{{
	Name:  "binary-safe",
	Doc:   "Keys and values may hold any byte, none at all, or a mebibyte of them.",
	Modes: anyMode,
	Run:   checkBinary,
}, {
	Name:  "values are the caller's",
	Doc:   "What a method returned stays as it was, whatever follows on the connection.",
	Modes: anyMode,
	Run:   checkOwned,
}, {
	Name:  "arguments are left alone",
	Doc:   "A method neither changes the slice it is called with, nor the memory behind its end.",
	Modes: anyMode,
	Run:   checkArguments,
}}

// mebibyte is larger than the buffer of any client, and has line ends where a
// client that splits its reads may look for them.
var mebibyte = strings.Repeat("0123456789abc\x00\r\n", 1<<20/16)

func checkBinary(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	var every strings.Builder
	for b := range 256 {
		every.WriteByte(byte(b))
	}
	b := c.NewBatch(2)
	for _, s := range []string{
		"", "\r\n", "\x00", "\xff\xfe", "a\r\nb\r\n", "$-1\r\n", "+OK\r\n", "-ERR\r\n", " ", "\n", "%s", "héllo",
		every.String(), mebibyte,
	} {
		// The server takes an empty key, but this suite's keys have a prefix.
		k, shown := e.key(s), show(s)
		f.ok("Set of "+shown, c.Set(ctx, k, s))
		f.server(ctx, e, s, "GET", k)
		v, err := c.Get(ctx, k)
		f.text("Get of "+shown, v, err, s)
		n, err := c.Strlen(ctx, k)
		f.got("Strlen of "+shown, n, err, int64(len(s)))

		list := e.key("list" + s)
		n, err = c.RPush(ctx, list, s, s)
		f.got("RPush of "+shown, n, err, int64(2))
		all, err := c.LRange(ctx, list, 0, -1)
		f.got("LRange of "+shown, all, err, []string{s, s})
		v, err = c.LPop(ctx, list)
		f.text("LPop of "+shown, v, err, s)
		_, err = c.HSet(ctx, e.key("hash"), s, s)
		f.ok("HSet of "+shown, err)
		f.server(ctx, e, s, "HGET", e.key("hash"), s)
		_, err = c.SAdd(ctx, e.key("set"), s)
		f.ok("SAdd of "+shown, err)
		v, err = c.SPop(ctx, e.key("set"))
		f.text("SPop of "+shown, v, err, s)
		_, err = c.ZAdd(ctx, e.key("zset"), adapters.Scored{Member: s, Score: 1})
		f.ok("ZAdd of "+shown, err)
		z, err := c.ZPopMin(ctx, e.key("zset"))
		f.got("ZPopMin of "+shown, z, err, adapters.Scored{Member: s, Score: 1})
		got, err := c.Do(ctx, "GET", k)
		f.got("Do GET of "+shown, got, err, s)

		b.Set(k, s)
		b.Get(k)
		f.ok("Exec with "+shown, b.Exec(ctx))
		v, err = b.Bytes(1)
		f.text("Bytes of "+shown, v, err, s)
		b.Reset()
		n, err = c.Del(ctx, k, list)
		f.got("Del of "+shown, n, err, int64(2))
	}

	f.ok("Set of the empty key", c.Set(ctx, "", "v"))
	f.server(ctx, e, "v", "GET", "")
	v, err := c.Get(ctx, "")
	f.text("Get of the empty key", v, err, "v")
	n, err := c.Del(ctx, "")
	f.got("Del of the empty key", n, err, int64(1))
	return f.err()
}

// checkOwned keeps values of several sizes, because a client may copy small
// ones only.
func checkOwned(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	type kept struct {
		input string
		got   []byte
		want  string
	}
	var all []kept
	keep := func(input, want string, got []byte, err error) {
		f.text(input, got, err, want)
		all = append(all, kept{input, got, want})
	}

	b := c.NewBatch(8)
	for i := range 24 {
		want := strings.Repeat(string(rune('a'+i)), 1<<(i%17))
		k := e.key(fmt.Sprint(i))
		f.ok("Set", c.Set(ctx, k, want))
		v, err := c.Get(ctx, k)
		keep("Get", want, v, err)

		f.store(ctx, e, "RPUSH", k+"list", want, want)
		v, err = c.LPop(ctx, k+"list")
		keep("LPop", want, v, err)
		v, err = c.RPop(ctx, k+"list")
		keep("RPop", want, v, err)
		f.store(ctx, e, "SADD", k+"set", want)
		v, err = c.SPop(ctx, k+"set")
		keep("SPop", want, v, err)

		b.Get(k)
		f.ok("Exec", b.Exec(ctx))
		v, err = b.Bytes(0)
		keep("Bytes", want, v, err)
		b.Reset()
	}
	// Different traffic of every size, over whatever buffers there are.
	for i := range 24 {
		k := e.key("after" + fmt.Sprint(i))
		f.ok("Set", c.Set(ctx, k, strings.Repeat("#", 1<<(i%17))))
		_, err := c.Get(ctx, k)
		f.ok("Get", err)
		b.Get(k)
		b.Set(k, strings.Repeat("*", 1<<(i%17)))
		f.ok("Exec", b.Exec(ctx))
		b.Reset()
	}
	for _, k := range all {
		if string(k.got) != k.want {
			f.addf("%s: the value of %d bytes has changed after it was returned: got %s, want %s",
				k.input, len(k.want), show(k.got), show(k.want))
		}
	}
	return f.err()
}

func checkArguments(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	strs := func(method string, run func(args ...string) error, args ...string) {
		// Room behind the end, in which an append would not be seen.
		room := append(slices.Clone(args), "behind", "the", "end", "!")
		want := slices.Clone(room)
		f.ok(method, run(room[:len(args)]...))
		f.equal(method+": the arguments and the room behind them", room, want)
	}
	k := e.key("k")
	strs("MSet", func(a ...string) error { return c.MSet(ctx, a...) }, k, "a", e.key("l"), "b")
	strs("Del", func(a ...string) error { return second(c.Del(ctx, a...)) }, k, e.key("l"))
	strs("HSet", func(a ...string) error { return second(c.HSet(ctx, e.key("hash"), a...)) }, "f", "v", "g", "w")
	strs("LPush", func(a ...string) error { return second(c.LPush(ctx, e.key("list"), a...)) }, "a", "b")
	strs("RPush", func(a ...string) error { return second(c.RPush(ctx, e.key("list"), a...)) }, "a", "b")
	strs("SAdd", func(a ...string) error { return second(c.SAdd(ctx, e.key("set"), a...)) }, "a", "b")
	strs("Do", func(a ...string) error { return second(c.Do(ctx, a...)) }, "SET", k, "v")

	scored := []adapters.Scored{{Member: "b", Score: 2}, {Member: "a", Score: 1}, {Member: "behind"}, {Member: "the end"}}
	want := slices.Clone(scored)
	_, err = c.ZAdd(ctx, e.key("zset"), scored[:2]...)
	f.ok("ZAdd", err)
	f.equal("ZAdd: the arguments and the room behind them", scored, want)
	return f.err()
}
