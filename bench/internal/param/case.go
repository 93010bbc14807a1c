// Package param turns the flags of the test binary into the matrix of cases
// of a workload, and each case into its benchmark name.
//
//	family (what a workload varies) + Flags (what the user wants) -> []Case -> Case.Name
//
// A name is key=value pairs in one fixed order with the client last, so that
// the arms that are compared run next to each other and benchstat's
// -col /client finds them:
//
//	conn=own/net=tcp/goroutines=100/value=64B/loop=10/client=goredis
//
// A key is in the name if the workload varies it, or if the user asked for
// something else than its default.
package param

import (
	"fmt"
	"strconv"
	"strings"

	"rcbench/adapters"
)

// The connection strategies; see package adapters.
const (
	Own    = "own"
	Shared = "shared"
	Pool   = "pool"
	Fresh  = "fresh"
)

// A Case is one row of a workload for one client.
type Case struct {
	Conn       string
	Net        string // tcp, unix, tls
	Goroutines int
	Value      Size
	Loop       int
	Depth      int
	Pool       int // connections of conn=pool; 0 is one for each goroutine
	Keyspace   int
	Setup      adapters.Setup
	Proto      int    // RESP version; 0 is the client's default
	Auth       string // "" or "password"
	Driver     adapters.Driver

	family *Family
}

// Conns is the number of connections that the case holds open: none for
// conn=fresh, which opens one for every op.
func (c Case) Conns() int {
	switch c.Conn {
	case Own:
		return c.Goroutines
	case Shared:
		return 1
	case Pool:
		if c.Pool > 0 {
			return c.Pool
		}
		return c.Goroutines
	}
	return 0
}

// Name is the name of the case below Benchmark<Family>/.
func (c Case) Name() string {
	var pairs []string
	add := func(shown bool, key, value string) {
		if shown {
			pairs = append(pairs, key+"="+value)
		}
	}
	f := c.family
	add(true, "conn", c.Conn)
	add(true, "net", c.Net)
	add(true, "goroutines", strconv.Itoa(c.Goroutines))
	add(f.Values != nil, "value", c.Value.String())
	add(f.Loops != nil, "loop", strconv.Itoa(c.Loop))
	add(f.Depths != nil, "depth", strconv.Itoa(c.Depth))
	add(c.Pool != 0, "pool", strconv.Itoa(c.Pool))
	add(c.Keyspace != DefaultKeyspace, "keyspace", strconv.Itoa(c.Keyspace))
	add(c.Conn == Fresh || c.Setup != adapters.Lean, "setup", string(c.Setup))
	add(c.Proto != 0, "proto", strconv.Itoa(c.Proto))
	add(c.Auth != "", "auth", c.Auth)
	add(true, "client", c.Driver.Name())
	return strings.Join(pairs, "/")
}

// Skip is the reason why the client cannot run the case, or "".
func (c Case) Skip() string {
	needs := []adapters.Capability{}
	if c.Conn == Shared {
		needs = append(needs, adapters.CapMultiplex)
	}
	if c.family.Async {
		needs = append(needs, adapters.CapAsync)
	}
	if c.Net == "tls" {
		needs = append(needs, adapters.CapTLS)
	}
	if c.Proto == 3 {
		needs = append(needs, adapters.CapRESP3)
	}
	for _, need := range needs {
		if why, lacks := c.Driver.Lacks()[need]; lacks {
			return fmt.Sprintf("%s lacks %s: %s", c.Driver.Name(), need, why)
		}
	}
	return ""
}
