package param

import (
	"slices"

	"rcbench/adapters"
)

// A Family is what one workload varies, with the defaults of the study it
// comes from. A nil list means that the workload has no such parameter; its
// flag then leaves the workload alone.
type Family struct {
	Name       string // BenchmarkName without Benchmark
	Conns      []string
	Nets       []string
	Goroutines []int
	Values     []Size
	Loops      []int
	Depths     []int
	Hows       []string // ways to send the commands of an op
	Keys       []int    // keys that an op writes
	Members    []int    // fields, members or elements that an op writes or reads
	Reads      []int    // per cent of the commands that read
	Dists      []string // how reads and writes are spread over the keyspace
	Keyspaces  []int    // numbers of keys that commands are spread over
	Procs      []int    // processes
	Connects   []int    // connections that a worker makes in an op, one after another
	DB         int      // database where the user does not say, on a server of ours
	Async      bool     // needs adapters.CapAsync
	Command    bool     // sends the user's own command; has no case without one

	// FreshSetups are the setups of conn=fresh, where the handshake is part
	// of the op; every other strategy defaults to lean.
	FreshSetups []adapters.Setup
}

// Cases is the matrix of the family as the flags narrow or widen it, clients
// innermost. It is empty if the user selected only what the family does not
// have.
func (f *Family) Cases(flags *Flags) []Case {
	if f.Command && flags.Command == nil {
		return nil
	}
	cases := []Case{{family: f, Auth: flags.Auth, Backlog: flags.Backlog, KeyspaceAsked: flags.keyspaces != nil}}
	if f.Command {
		cases[0].Command = flags.Command
	}
	cases = expand(cases, among(flags.conns, f.Conns), func(c *Case, v string) { c.Conn = v })
	cases = expand(cases, flags.netsOf(f.Nets), func(c *Case, v string) { c.Net = v })
	cases = expand(cases, or(flags.goroutines, f.Goroutines), func(c *Case, v int) { c.Goroutines = v })
	cases = expand(cases, varied(flags.values, f.Values, DefaultValue), func(c *Case, v Size) { c.Value = v })
	cases = expand(cases, varied(flags.loops, f.Loops, 1), func(c *Case, v int) { c.Loop = v })
	cases = expand(cases, varied(flags.depths, f.Depths, 1), func(c *Case, v int) { c.Depth = v })
	cases = expand(cases, varied(flags.hows, f.Hows, ""), func(c *Case, v string) { c.How = v })
	cases = expand(cases, varied(flags.keys, f.Keys, 1), func(c *Case, v int) { c.Keys = v })
	cases = expand(cases, varied(flags.members, f.Members, 1), func(c *Case, v int) { c.Members = v })
	cases = expand(cases, varied(flags.reads, f.Reads, 0), func(c *Case, v int) { c.Reads = v })
	cases = expand(cases, varied(flags.dists, f.Dists, ""), func(c *Case, v string) { c.Dist = v })
	cases = expand(cases, varied(flags.procs, f.Procs, 1), func(c *Case, v int) { c.Procs = v })
	cases = expand(cases, varied(flags.connects, f.Connects, 1), func(c *Case, v int) { c.Connects = v })
	cases = expandEach(cases, func(c Case) []int {
		if c.Conn != Pool {
			return []int{0}
		}
		return flags.pools
	}, func(c *Case, v int) { c.Pool = v })
	cases = expand(cases, varied(flags.keyspaces, f.Keyspaces, DefaultKeyspace), func(c *Case, v int) { c.Keyspace = v })
	cases = expand(cases, flags.dbsOf(f.DB), func(c *Case, v int) { c.DB = v })
	cases = expandEach(cases, func(c Case) []adapters.Setup {
		switch {
		case len(flags.setups) > 0:
			return flags.setups
		case c.Conn == Fresh:
			return f.FreshSetups
		}
		return []adapters.Setup{adapters.Lean}
	}, func(c *Case, v adapters.Setup) { c.Setup = v })
	cases = expand(cases, flags.protos, func(c *Case, v int) { c.Proto = v })
	return expand(cases, flags.Drivers, func(c *Case, v adapters.Driver) { c.Driver = v })
}

// Ignores are the flags that the user set and that the family has no use for.
func (f *Family) Ignores(flags *Flags) []string {
	var names []string
	add := func(name string, set, has bool) {
		if set && !has {
			names = append(names, "-"+name)
		}
	}
	add("values", flags.values != nil, f.Values != nil)
	add("loops", flags.loops != nil, f.Loops != nil)
	add("depths", flags.depths != nil, f.Depths != nil)
	add("how", flags.hows != nil, f.Hows != nil)
	add("keys", flags.keys != nil, f.Keys != nil)
	add("members", flags.members != nil, f.Members != nil)
	add("reads", flags.reads != nil, f.Reads != nil)
	add("dist", flags.dists != nil, f.Dists != nil)
	add("keyspace", flags.keyspaces != nil, f.Keyspaces != nil)
	add("procs", flags.procs != nil, f.Procs != nil)
	add("connects", flags.connects != nil, f.Connects != nil)
	add("cmd", flags.Command != nil, f.Command)
	add("pool", flags.int.pool != 0, slices.Contains(f.Conns, Pool))
	return names
}

// expand replaces each case by one case for each value.
func expand[T any](cases []Case, values []T, set func(*Case, T)) []Case {
	return expandEach(cases, func(Case) []T { return values }, set)
}

func expandEach[T any](cases []Case, values func(Case) []T, set func(*Case, T)) []Case {
	var all []Case
	for _, c := range cases {
		for _, v := range values(c) {
			set(&c, v)
			all = append(all, c)
		}
	}
	return all
}

// among is the part of the family's list that the user asked for.
func among(asked, has []string) []string {
	if len(asked) == 0 {
		return has
	}
	var both []string
	for _, v := range has {
		if slices.Contains(asked, v) {
			both = append(both, v)
		}
	}
	return both
}

// or is what the user asked for, or the family's default.
func or[T any](asked, defaults []T) []T {
	if len(asked) == 0 {
		return defaults
	}
	return asked
}

// varied is or for a parameter that not every family has: where the list is
// nil there is the one case with the fixed value.
func varied[T any](asked, defaults []T, fixed T) []T {
	if defaults == nil {
		return []T{fixed}
	}
	return or(asked, defaults)
}
