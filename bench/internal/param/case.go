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

// The ways to send the commands of an op that writes many members.
const (
	Variadic  = "variadic"  // one command with all of them
	Loop      = "loop"      // a command each, every reply awaited before the next
	Pipeline  = "pipeline"  // a command each, in one write
	Multi     = "multi"     // MULTI, a command each, EXEC; every reply awaited
	MultiPipe = "multipipe" // the same in one write
)

// The distributions of a keyspace.
const (
	Uniform = "uniform"
	Zipf    = "zipf"
)

// A Case is one row of a workload for one client.
type Case struct {
	Conn       string
	Net        string // tcp, unix, tls
	Goroutines int
	Value      Size
	Loop       int
	Depth      int
	How        string // one of the constants
	Keys       int
	Members    int
	Reads      int    // per cent
	Dist       string // uniform, zipf
	Procs      int
	Connects   int
	Command    []string // the user's own
	Pool       int      // connections of conn=pool; 0 is one for each goroutine
	Keyspace   int

	KeyspaceAsked bool // the keyspace is the user's choice
	DB            int
	Setup         adapters.Setup
	Proto         int    // RESP version; 0 is the client's default
	Auth          string // "" or "password"
	Backlog       int    // of the server's listeners; 0 is the default
	Driver        adapters.Driver

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
	add(f.Values != nil && c.Value > 0, "value", c.Value.String())
	add(f.Loops != nil, "loop", strconv.Itoa(c.Loop))
	add(f.Depths != nil, "depth", strconv.Itoa(c.Depth))
	add(f.Hows != nil, "how", c.How)
	add(f.Keys != nil, "keys", strconv.Itoa(c.Keys))
	add(f.Members != nil, "members", strconv.Itoa(c.Members))
	add(f.Reads != nil, "reads", strconv.Itoa(c.Reads))
	add(f.Dists != nil, "dist", c.Dist)
	add(f.Procs != nil, "procs", strconv.Itoa(c.Procs))
	add(f.Connects != nil, "connects", strconv.Itoa(c.Connects))
	if f.Command {
		add(true, "cmd", word(c.Command[0]))
	}
	add(c.Pool != 0, "pool", strconv.Itoa(c.Pool))
	add(len(f.Keyspaces) > 1 || c.Keyspace != DefaultKeyspace, "keyspace", strconv.Itoa(c.Keyspace))
	add(c.DB != 0, "db", strconv.Itoa(c.DB))
	add(c.Conn == Fresh || c.Setup != adapters.Lean, "setup", string(c.Setup))
	add(c.Proto != 0, "proto", strconv.Itoa(c.Proto))
	add(c.Auth != "", "auth", c.Auth)
	add(c.Backlog != 0, "backlog", strconv.Itoa(c.Backlog))
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

// word is the name of a command as a value in a name: its letters and digits,
// in lower case.
func word(command string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, command)
}
