// Package adapters is the contract between the benchmarks and the Redis
// clients they compare: types, and the little that all drivers have in common.
// Each client has a folder of its own below this one, and package adaptertest
// holds every implementation to what is written here.
//
// A [Driver] makes a [Client] in one of the three ways in which programs hold
// connections, and the benchmark names carry the same words:
//
//	conn=own     Dial   one connection for one goroutine
//	conn=shared  Share  one connection multiplexed by all goroutines
//	conn=pool    Open   the client's own pool of exactly n connections
//	conn=fresh   Dial, one command, Close, again and again
//
// A pooled client and a multiplexed client are two classes of client, so the
// contract keeps Share and Open apart: a pool of one connection hands it to
// one caller at a time, a shared connection does not make callers wait for
// their turn. There are two ways to do that: the commands of all callers are
// in flight together, each sent while the replies to others are awaited; or
// those that arrive while a batch is in flight are gathered into the next one,
// as the AutoPipeline of go-redis does. Both count as multiplexing, because
// callers of both share round trips, and in neither does our code decide what
// is sent together. A client that has no such mode says so in Lacks, and is
// then skipped aloud. Nothing is emulated: an emulated pipeline or pool would
// measure our loop and not the client.
//
// Note: the methods of Client are concrete and typed. The obvious alternative,
// one Do(args ...any), costs two or three allocations (the slice, the boxed
// arguments) before the client has started, and charges them to clients whose
// own typed methods do not need them. Do is there too, for commands that the
// user types, and is not used by any other benchmark.
//
// Note: a Client is never wrapped, to count or to check. A wrapper hides
// optional interfaces and costs an indirect call per command; the server's
// counters do the counting (see package target).
//
// Note: arguments are strings and values come back as []byte. Each client can
// send a string without a copy and can return a bulk reply as a []byte of the
// caller's own without a further copy; any other choice charges one half of
// the clients for the habits of the other half.
//
// Note: a list of arguments (the values of an RPUSH) comes as a []string, and
// a Driver passes it in the form that the client documents for a caller who
// has one, the cheapest if it documents several: as it is where the client
// takes that, else copied into a slice of the client's type, made for the call
// at its full length. No such slice is kept for the next call. A pool of them
// was rejected: it is an optimisation that callers do not write, and it would
// hide what the signature of one client costs and leave it with the others.
package adapters

import "context"

// A Driver opens connections through one client library. Its methods may be
// called by several goroutines at once.
type Driver interface {
	// Name is the value of client= in benchmark names: lower-case letters
	// only, so that it never looks like a GOMAXPROCS suffix.
	Name() string

	// Version is the version of the client library linked into this
	// program, as LinkedVersion finds it; the floor, which wraps no
	// library, answers "floor".
	Version() string

	// Lacks names what the client cannot do, each with the reason that a
	// skipped benchmark shows. A capability that is not in the map is
	// there, and adaptertest checks it. The caller does not modify the map.
	Lacks() map[Capability]string

	// Dial opens exactly one connection, established and authenticated when
	// Dial returns, unless cfg is Lazy. The Client is used by one goroutine
	// at a time, and all its commands use that connection, so that MULTI ...
	// EXEC through Do works. ctx bounds Dial only, never the life of the
	// Client.
	Dial(ctx context.Context, cfg Config) (Client, error)

	// Share opens exactly one connection, established when Share returns,
	// over which the client multiplexes the commands of any number of
	// goroutines: in flight together, or gathered into batches. Without
	// CapMultiplex it returns ErrUnsupported.
	Share(ctx context.Context, cfg Config) (Client, error)

	// Open opens the client's pool with exactly conns connections, all
	// established when Open returns: it neither grows nor shrinks while
	// its connections are sound. The Client is safe for concurrent use; a
	// caller waits while all connections are busy.
	Open(ctx context.Context, cfg Config, conns int) (Client, error)
}

// A Capability is something that not every client can do.
type Capability string

const (
	CapMultiplex Capability = "multiplex" // Share
	CapAsync     Capability = "async"     // the Client of Share implements Async
	CapRESP3     Capability = "resp3"     // Config.Protocol 3
	CapTLS       Capability = "tls"       // Config.TLS
	CapCancel    Capability = "cancel"    // a command in flight ends when its context is cancelled
	CapDeadline  Capability = "deadline"  // a command in flight ends at its context's deadline
)

// Capabilities lists every Capability, in the order in which it is shown.
func Capabilities() []Capability {
	return []Capability{CapMultiplex, CapAsync, CapRESP3, CapTLS, CapCancel, CapDeadline}
}
