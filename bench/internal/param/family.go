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
	Async      bool // needs adapters.CapAsync

	// FreshSetups are the setups of conn=fresh, where the handshake is part
	// of the op; every other strategy defaults to lean.
	FreshSetups []adapters.Setup
}

// Cases is the matrix of the family as the flags narrow or widen it, clients
// innermost. It is empty if the user selected only what the family does not
// have.
func (f *Family) Cases(flags *Flags) []Case {
	cases := []Case{{family: f}}
	cases = expand(cases, among(flags.conns, f.Conns), func(c *Case, v string) { c.Conn = v })
	cases = expand(cases, flags.netsOf(f.Nets), func(c *Case, v string) { c.Net = v })
	cases = expand(cases, or(flags.goroutines, f.Goroutines), func(c *Case, v int) { c.Goroutines = v })
	cases = expand(cases, varied(flags.values, f.Values, DefaultValue), func(c *Case, v Size) { c.Value = v })
	cases = expand(cases, varied(flags.loops, f.Loops, 1), func(c *Case, v int) { c.Loop = v })
	cases = expand(cases, varied(flags.depths, f.Depths, 1), func(c *Case, v int) { c.Depth = v })
	cases = expandEach(cases, func(c Case) []int {
		if c.Conn != Pool {
			return []int{0}
		}
		return flags.pools
	}, func(c *Case, v int) { c.Pool = v })
	cases = expand(cases, flags.keyspaces, func(c *Case, v int) { c.Keyspace = v })
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
	cases = expand(cases, []string{flags.Auth}, func(c *Case, v string) { c.Auth = v })
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
