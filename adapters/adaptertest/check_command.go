package adaptertest

import (
	"context"
	"math"
	"slices"

	"rcbench/adapters"
)

// The checks of the typed methods. What a method has done is read back over
// the control connection, so that a driver that is wrong in both directions
// (a key that it always prefixes, say) is found.
var commandChecks = []Check{{
	Name:  "strings",
	Doc:   "Get, Set, Incr, Strlen and MSet do on the server what they say.",
	Modes: anyMode,
	Run:   checkStrings,
}, {
	Name:  "hashes",
	Doc:   "HSet sets all fields with one command, and counts the new ones.",
	Modes: anyMode,
	Run:   checkHashes,
}, {
	Name:  "lists",
	Doc:   "LPush, RPush, LPop, RPop and LRange keep the order.",
	Modes: anyMode,
	Run:   checkLists,
}, {
	Name:  "sets",
	Doc:   "SAdd counts the new members, SPop takes each once.",
	Modes: anyMode,
	Run:   checkSets,
}, {
	Name:  "sorted sets",
	Doc:   "ZAdd counts the new members, ZPopMin takes the lowest, with its exact score.",
	Modes: anyMode,
	Run:   checkSortedSets,
}, {
	Name:  "keys",
	Doc:   "Del deletes and counts; Ping is answered.",
	Modes: anyMode,
	Run:   checkKeys,
}}

func checkStrings(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	k, other := e.key("k"), e.key("other")

	f.ok("Set", c.Set(ctx, k, "first"))
	f.server(ctx, e, "first", "GET", k)
	f.ok("Set", c.Set(ctx, k, "second one"))
	f.server(ctx, e, "second one", "GET", k)
	f.server(ctx, e, int64(-1), "TTL", k)

	f.store(ctx, e, "SET", k, "from elsewhere")
	v, err := c.Get(ctx, k)
	f.text("Get", v, err, "from elsewhere")
	n, err := c.Strlen(ctx, k)
	f.got("Strlen", n, err, int64(len("from elsewhere")))
	n, err = c.Strlen(ctx, e.key("missing"))
	f.got("Strlen of a missing key", n, err, int64(0))

	for want := range int64(3) {
		n, err = c.Incr(ctx, e.key("counter"))
		f.got("Incr", n, err, want+1)
	}
	f.server(ctx, e, "3", "GET", e.key("counter"))
	f.store(ctx, e, "SET", e.key("counter"), "-9223372036854775808")
	n, err = c.Incr(ctx, e.key("counter"))
	f.got("Incr of the least number", n, err, int64(math.MinInt64+1))
	f.store(ctx, e, "SET", e.key("counter"), "9223372036854775806")
	n, err = c.Incr(ctx, e.key("counter"))
	f.got("Incr to the greatest number", n, err, int64(math.MaxInt64))

	f.ok("MSet", c.MSet(ctx, k, "a", other, "b", e.key("third"), ""))
	f.server(ctx, e, []any{"a", "b", ""}, "MGET", k, other, e.key("third"))
	f.is("MSet of an odd number", c.MSet(ctx, k, "a", other), adapters.ErrReply)
	return f.err()
}

func checkHashes(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	k := e.key("hash")

	n, err := c.HSet(ctx, k, "f", "1", "g", "2")
	f.got("HSet of two new fields", n, err, int64(2))
	n, err = c.HSet(ctx, k, "g", "3", "h", "4", "i", "")
	f.got("HSet of two new fields and an old one", n, err, int64(2))
	n, err = c.HSet(ctx, k, "f", "5")
	f.got("HSet of an old field", n, err, int64(0))
	f.server(ctx, e, []any{"5", "3", "4", "", nil}, "HMGET", k, "f", "g", "h", "i", "missing")
	return f.err()
}

func checkLists(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	k := e.key("list")

	n, err := c.RPush(ctx, k, "c", "d")
	f.got("RPush", n, err, int64(2))
	n, err = c.LPush(ctx, k, "b", "a")
	f.got("LPush", n, err, int64(4))
	n, err = c.RPush(ctx, k, "e")
	f.got("RPush", n, err, int64(5))
	f.server(ctx, e, []any{"a", "b", "c", "d", "e"}, "LRANGE", k, "0", "-1")

	all, err := c.LRange(ctx, k, 0, -1)
	f.got("LRange 0 -1", all, err, []string{"a", "b", "c", "d", "e"})
	some, err := c.LRange(ctx, k, -3, 3)
	f.got("LRange -3 3", some, err, []string{"c", "d"})
	none, err := c.LRange(ctx, k, 4, 2)
	f.got("LRange 4 2", len(none), err, 0)
	none, err = c.LRange(ctx, e.key("missing"), 0, -1)
	f.got("LRange of a missing key", len(none), err, 0)

	v, err := c.LPop(ctx, k)
	f.text("LPop", v, err, "a")
	v, err = c.RPop(ctx, k)
	f.text("RPop", v, err, "e")
	f.server(ctx, e, []any{"b", "c", "d"}, "LRANGE", k, "0", "-1")
	return f.err()
}

func checkSets(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	k := e.key("set")

	n, err := c.SAdd(ctx, k, "a", "b")
	f.got("SAdd of two new members", n, err, int64(2))
	n, err = c.SAdd(ctx, k, "b", "c", "b")
	f.got("SAdd of a new member and an old one twice", n, err, int64(1))
	f.server(ctx, e, int64(3), "SCARD", k)

	var popped []string
	for range 3 {
		v, err := c.SPop(ctx, k)
		f.ok("SPop", err)
		popped = append(popped, string(v))
		f.server(ctx, e, int64(0), "SISMEMBER", k, string(v))
	}
	slices.Sort(popped)
	f.equal("SPop, three times, sorted", popped, []string{"a", "b", "c"})
	f.server(ctx, e, int64(0), "EXISTS", k)
	return f.err()
}

func checkSortedSets(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	k := e.key("zset")

	n, err := c.ZAdd(ctx, k, adapters.Scored{Member: "b", Score: 2}, adapters.Scored{Member: "a", Score: -1.5})
	f.got("ZAdd of two new members", n, err, int64(2))
	n, err = c.ZAdd(ctx, k, adapters.Scored{Member: "a", Score: 7})
	f.got("ZAdd of an old member", n, err, int64(0))
	f.server(ctx, e, "7", "ZSCORE", k, "a")
	f.server(ctx, e, []any{"b", "a"}, "ZRANGE", k, "0", "-1")
	f.store(ctx, e, "DEL", k)

	want := []adapters.Scored{
		{Member: "-inf", Score: math.Inf(-1)},
		{Member: "neg", Score: -1234567.25},
		{Member: "zero", Score: 0},
		{Member: "tenth", Score: 0.1},
		{Member: "big", Score: 9007199254740991},
		{Member: "+inf", Score: math.Inf(1)},
	}
	for _, i := range []int{3, 0, 5, 1, 4, 2} {
		n, err := c.ZAdd(ctx, k, want[i])
		f.got("ZAdd "+want[i].Member, n, err, int64(1))
	}
	for _, w := range want {
		got, err := c.ZPopMin(ctx, k)
		f.got("ZPopMin", got, err, w)
	}
	f.server(ctx, e, int64(0), "EXISTS", k)
	return f.err()
}

func checkKeys(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings

	f.store(ctx, e, "MSET", e.key("a"), "1", e.key("b"), "2", e.key("c"), "3")
	n, err := c.Del(ctx, e.key("a"), e.key("missing"), e.key("b"))
	f.got("Del of two keys and a missing one", n, err, int64(2))
	f.server(ctx, e, []any{nil, nil, "3"}, "MGET", e.key("a"), e.key("b"), e.key("c"))
	n, err = c.Del(ctx, e.key("a"))
	f.got("Del of a missing key", n, err, int64(0))
	f.ok("Ping", c.Ping(ctx))
	return f.err()
}
