package param

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"

	"rcbench/adapters"
)

// DefaultKeyspace is the number of keys that reads walk through, so that a
// reply that belongs to another caller does not pass for the right one.
const DefaultKeyspace = 1000

// DefaultValue is the size of a value where the user does not say.
const DefaultValue Size = 64

// Flags is what the user asked for. An empty list leaves each family its own
// default.
type Flags struct {
	Drivers     []adapters.Driver
	Target      string   // see package target
	Auth        string   // "" or "password"
	Metrics     string   // "" or "all"
	Fingerprint bool     // put the figures of redis-benchmark into the configuration lines
	Backlog     int      // of a started server's listeners; 0 is the default
	Command     []string // -cmd, split into words; nil if not given

	conns      []string
	nets       []string
	goroutines []int
	loops      []int
	depths     []int
	values     []Size
	setups     []adapters.Setup
	protos     []int // never empty: {0} is the client's default
	pools      []int // never empty: {0} is one for each goroutine
	keyspaces  []int
	hows       []string
	keys       []int
	members    []int
	reads      []int
	dists      []string
	procs      []int
	connects   []int
	dbs        []int

	available []string // networks of the server; nil is not known
	foreign   bool     // the server is somebody else's

	raw map[string]*string
	int struct{ pool, db, backlog int }
}

// Register defines the flags on fs. Resolve reads them after fs was parsed.
func Register(fs *flag.FlagSet) *Flags {
	f := &Flags{raw: map[string]*string{}}
	text := func(name, value, usage string) { f.raw[name] = fs.String(name, value, usage) }
	text("clients", "", "clients to compare, comma-separated (default all)")
	text("conns", "", "connection strategies: own, shared, pool, fresh (default each workload's)")
	text("nets", "", "transports: tcp, unix, tls (default each workload's, mostly tcp)")
	text("goroutines", "", "exact numbers of concurrent workers (default each workload's, mostly 100)")
	text("loops", "", "commands that one op sends one after another (default 1,10,100)")
	text("depths", "", "commands in one explicit pipeline (default 1,10,100)")
	text("values", "", "sizes of one value, such as 64B,1KiB,1MiB (default 64B)")
	text("setup", "", "handshakes: stock, lean (default lean; conn=fresh: stock; ConnectIncr: both)")
	text("auth", "", "password: the server asks for a password, and each connection gives it (default none)")
	text("proto", "", "RESP versions: 2, 3 (default the client's own)")
	text("target", "",
		"server: auto, miniredis, redis-server, valkey-server, a path, or a redis://, rediss://, unix:// URL (default RCBENCH_TARGET, else auto)")
	text("metrics", "", "all: also CPU, commands, connections, errors and bytes per op")
	text("how", "", "ways to write many members: variadic, loop, multi, multipipe, pipeline (default all)")
	text("keys", "", "keys that one op of Request, SetGet or MSet writes (default each workload's)")
	text("members", "", "fields, members or elements that one op writes or reads (default 1000; LRange: 100,300,500,600)")
	text("reads", "", "per cent of the commands of Mixed that read, 0 to 100 (default 80)")
	text("dist", "", "how Mixed chooses keys: uniform, zipf (default both)")
	text("procs", "", "processes of Storm (default 1,100)")
	text("connects", "", "connections that each goroutine of Storm makes in turn (default 10)")
	text("cmd", "", "command of Custom, such as 'ZADD board __rand__ __key__'; also __data__, a value")
	text("keyspace", "", "numbers of keys that commands are spread over (default 1000; Mixed: 1,100000)")
	fs.BoolVar(&f.Fingerprint, "fingerprint", false,
		"describe the machine by the program redis-benchmark, in the configuration lines (about 20 s; to compare such files: benchstat -ignore fingerprint)")
	fs.IntVar(&f.int.pool, "pool", 0, "connections of conn=pool (default as many as goroutines)")
	fs.IntVar(&f.int.db, "db", -1, "number of the database (default 0; HashFill: 254)")
	fs.IntVar(&f.int.backlog, "backlog", 0, "length of the queue of a started server's listeners (default 4096)")
	return f
}

// Resolve checks all flags against what is known and makes the lists. It
// returns every fault, each with the flag and the known values.
func (f *Flags) Resolve(known []adapters.Driver) error {
	var errs []error
	fault := func(err error) { errs = append(errs, err) }

	names := make([]string, len(known))
	for i, d := range known {
		names[i] = d.Name()
	}
	clients := choice(f.raw["clients"], "clients", names, fault)
	for i, name := range names {
		if len(clients) == 0 || slices.Contains(clients, name) {
			f.Drivers = append(f.Drivers, known[i])
		}
	}
	f.conns = choice(f.raw["conns"], "conns", []string{Own, Shared, Pool, Fresh}, fault)
	f.nets = choice(f.raw["nets"], "nets", []string{"tcp", "unix", "tls"}, fault)
	for _, s := range choice(f.raw["setup"], "setup", []string{string(adapters.Stock), string(adapters.Lean)}, fault) {
		f.setups = append(f.setups, adapters.Setup(s))
	}
	for _, p := range choice(f.raw["proto"], "proto", []string{"2", "3"}, fault) {
		f.protos = append(f.protos, int(p[0]-'0'))
	}
	f.goroutines = parse(f.raw["goroutines"], "goroutines", positive, fault)
	f.loops = parse(f.raw["loops"], "loops", positive, fault)
	f.depths = parse(f.raw["depths"], "depths", positive, fault)
	f.values = parse(f.raw["values"], "values", ParseSize, fault)
	f.hows = choice(f.raw["how"], "how", []string{Variadic, Loop, Multi, MultiPipe, Pipeline}, fault)
	f.keys = parse(f.raw["keys"], "keys", positive, fault)
	f.members = parse(f.raw["members"], "members", positive, fault)
	f.reads = parse(f.raw["reads"], "reads", percentage, fault)
	f.dists = choice(f.raw["dist"], "dist", []string{Uniform, Zipf}, fault)
	f.procs = parse(f.raw["procs"], "procs", positive, fault)
	f.connects = parse(f.raw["connects"], "connects", positive, fault)
	f.keyspaces = parse(f.raw["keyspace"], "keyspace", positive, fault)
	if text := *f.raw["cmd"]; text != "" {
		var err error
		if f.Command, err = splitCommand(text); err != nil {
			fault(fmt.Errorf("-cmd: %w", err))
		}
	}

	f.Target = *f.raw["target"]
	if auth := choice(f.raw["auth"], "auth", []string{"none", "password"}, fault); len(auth) > 1 {
		fault(errors.New("-auth: want one value"))
	} else if len(auth) == 1 && auth[0] != "none" {
		f.Auth = auth[0]
	}
	if metrics := choice(f.raw["metrics"], "metrics", []string{"all"}, fault); len(metrics) > 0 {
		f.Metrics = metrics[0]
	}
	if f.protos == nil {
		f.protos = []int{0}
	}
	if f.int.pool < 0 {
		fault(fmt.Errorf("-pool: %d connections, want a positive number", f.int.pool))
	}
	f.pools = []int{f.int.pool}
	switch {
	case f.int.db >= 0:
		f.dbs = []int{f.int.db}
	case f.int.db < -1:
		fault(fmt.Errorf("-db: %d, want a number from 0", f.int.db))
	}
	if f.Backlog = f.int.backlog; f.Backlog < 0 || f.Backlog > math.MaxInt32 {
		fault(fmt.Errorf("-backlog: %d, want a positive number of at most %d", f.Backlog, math.MaxInt32))
	}
	return errors.Join(errs...)
}

// Limit says which networks the server has: where the user did not choose, a
// family keeps to those, and takes the first if it has none of them by default.
// On a server that is foreign, every family keeps to the database of the URL.
func (f *Flags) Limit(nets []string, foreign bool) { f.available, f.foreign = nets, foreign }

// netsOf are the networks of a family with these defaults.
func (f *Flags) netsOf(defaults []string) []string {
	if len(f.nets) > 0 || f.available == nil {
		return or(f.nets, defaults)
	}
	if both := among(f.available, defaults); len(both) > 0 {
		return both
	}
	return f.available[:1]
}

// dbsOf are the databases of a family with this default.
func (f *Flags) dbsOf(own int) []int {
	if f.foreign {
		own = 0 // that of the URL
	}
	return or(f.dbs, []int{own})
}

// TLS says whether any case may want net=tls.
func (f *Flags) TLS() bool { return slices.Contains(f.nets, "tls") }

// choice splits a list and checks each value against the known ones.
func choice(raw *string, name string, known []string, fault func(error)) []string {
	return parse(raw, name, func(v string) (string, error) {
		if !slices.Contains(known, v) {
			return "", fmt.Errorf("unknown value %q; known: %s", v, strings.Join(known, ", "))
		}
		return v, nil
	}, fault)
}

// parse splits a list and parses each value; a value given twice is one.
func parse[T comparable](raw *string, name string, value func(string) (T, error), fault func(error)) []T {
	if *raw == "" {
		return nil
	}
	var list []T
	for text := range strings.SplitSeq(*raw, ",") {
		v, err := value(strings.TrimSpace(text))
		if err != nil {
			fault(fmt.Errorf("-%s: %w", name, err))
			continue
		}
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// most is the largest number that a flag of counts takes: what one op writes or
// opens is made in memory.
const most = 1 << 20

func positive(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q: want a positive whole number of at most %d", text, most)
	}
	return n, nil
}

func percentage(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 100 {
		return 0, fmt.Errorf("%q: want a whole number from 0 to 100", text)
	}
	return n, nil
}

// splitCommand splits a command line into words like a shell, but expands
// nothing.
func splitCommand(text string) ([]string, error) {
	words, err := shellquote.Split(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q: %w", text, err)
	case len(words) == 0 || word(words[0]) == "":
		return nil, fmt.Errorf("%q: want a command, such as 'ZADD board __rand__ __key__'", text)
	}
	return words, nil
}

// secret is the password of servers that are started with -auth=password. It
// guards nothing: such a server listens on loopback and holds made-up values.
const secret = "rcbench-Pa55word"

// Password is what a server that is started asks for; empty for none.
func (f *Flags) Password() string {
	if f.Auth == "" {
		return ""
	}
	return secret
}

// Fits says what of the flags a server cannot do.
func (f *Flags) Fits(server interface{ Guest() bool }) error {
	if f.Auth != "" && server.Guest() {
		return errors.New("-auth=password is for a server that is started; that of a URL is in the URL")
	}
	if f.dbs != nil && server.Guest() {
		return errors.New("-db is for a server that is started; that of a URL is in the URL")
	}
	if f.Backlog != 0 && server.Guest() {
		return errors.New("-backlog is for a server that is started; that of a URL has its own")
	}
	return nil
}

// Hint is what the user may have forgotten where a pattern of -bench selects
// nothing, or "".
func (f *Flags) Hint(pattern string) string {
	if f.Command == nil && strings.Contains(pattern, "Custom") {
		return "; BenchmarkCustom sends the command of -cmd"
	}
	return ""
}
