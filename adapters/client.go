package adapters

import "context"

// A Client sends commands over the connections that a Driver opened.
//
// For all of its methods: the reply has been read, and is checked, when the
// method returns. An error reply of the server is an error that wraps
// ErrReply and contains the server's text. A missing key or member is ErrNil.
// Any other error means that the reply is not known. Values that a method
// returns belong to the caller, who may keep them for ever but does not
// modify them; arguments are not kept after the method returned. Keys and
// values are binary-safe, the empty string included.
//
// ctx bounds the command as far as the client supports it: see CapCancel
// and CapDeadline. A context that is already done fails before anything is sent,
// for every client. Benchmarks pass context.Background unless the context is
// what is measured.
type Client interface {
	Strings
	Hashes
	Lists
	Sets
	SortedSets

	// Ping fails unless the server answers PONG.
	Ping(ctx context.Context) error

	// Del deletes keys and returns how many there were.
	Del(ctx context.Context, keys ...string) (int64, error)

	// Do sends any command, through the client's own generic call, and
	// returns the reply as string (status or bulk), int64, nil (with ErrNil),
	// or []any of these, in which nil stands for a missing element. Replies
	// that only RESP3 has come as the client presents them.
	Do(ctx context.Context, args ...string) (any, error)

	// NewBatch returns an empty Batch with room for n commands; n is a
	// hint. The Batch is used by one goroutine at a time.
	NewBatch(n int) Batch

	// Close closes every connection and ends every goroutine that the
	// Client started before it returns. It may be called while commands are
	// in flight, which then fail, and a second call returns an error or nil
	// but does nothing.
	Close() error
}

// Strings are the commands on string values.
type Strings interface {
	Get(ctx context.Context, key string) ([]byte, error)
	// Set fails unless the server answers OK.
	Set(ctx context.Context, key, value string) error
	Incr(ctx context.Context, key string) (int64, error)
	Strlen(ctx context.Context, key string) (int64, error)
	// MSet sets pairs[0] to pairs[1], and so on; an odd number of pairs is
	// an error of the server.
	MSet(ctx context.Context, pairs ...string) error
}

// Hashes are the commands on hashes.
type Hashes interface {
	// HSet sets fields (field, value, field, value, ...) with one command
	// and returns how many were new.
	HSet(ctx context.Context, key string, fields ...string) (int64, error)
}

// Lists are the commands on lists.
type Lists interface {
	// LPush and RPush return the length of the list after the push.
	LPush(ctx context.Context, key string, values ...string) (int64, error)
	RPush(ctx context.Context, key string, values ...string) (int64, error)
	LPop(ctx context.Context, key string) ([]byte, error)
	RPop(ctx context.Context, key string) ([]byte, error)
	// LRange returns no elements, and no error, for a missing key. Its
	// elements are strings because that is what the documentation of every
	// client shows for arrays.
	LRange(ctx context.Context, key string, start, stop int64) ([]string, error)
}

// Sets are the commands on sets.
type Sets interface {
	// SAdd returns how many members were new.
	SAdd(ctx context.Context, key string, members ...string) (int64, error)
	// SPop removes one random member.
	SPop(ctx context.Context, key string) ([]byte, error)
}

// A Scored is a member of a sorted set with its score.
type Scored struct {
	Member string
	Score  float64
}

// SortedSets are the commands on sorted sets.
type SortedSets interface {
	// ZAdd returns how many members were new.
	ZAdd(ctx context.Context, key string, members ...Scored) (int64, error)
	// ZPopMin removes the member with the lowest score; ErrNil if there is
	// none.
	ZPopMin(ctx context.Context, key string) (Scored, error)
}

// Async is implemented by the Client that Share returns where one goroutine
// can have many commands in flight without an explicit pipeline: by futures,
// or, where the client's documentation tells its users to do so, by a
// goroutine for each command on the multiplexed connection.
type Async interface {
	// GetAll sends GET for each key, all in flight at once, awaits all, and
	// stores the value of keys[i] in values[i], which has the length of
	// keys. It returns the first error in the order of keys, ErrNil
	// included, after all replies have arrived.
	GetAll(ctx context.Context, keys []string, values [][]byte) error
}

// A Batch collects commands and sends them together, through the client's own
// pipeline.
//
// The methods that queue a command do not send it: the client's buffer may be
// flushed when it is full, but no reply is awaited before Exec or ExecTx.
// While commands are queued the Batch may hold a connection of the pool; Exec,
// ExecTx and Reset give it back.
//
// The Batch is meant to be kept and used again, so that the memory of this
// contract's own bookkeeping is not charged to the client. After Exec or
// ExecTx the results stand until Reset, which empties the Batch, also if the
// Batch failed as a whole; to queue or to execute again without Reset is a
// programmer's error and panics. Only where nothing was queued, so that
// nothing was executed, is no Reset needed.
type Batch interface {
	Get(key string)
	Set(key, value string)
	Incr(key string)
	HSet(key, field, value string)
	RPush(key, value string)
	SAdd(key, member string)
	ZAdd(key string, score float64, member string)

	// Len is the number of queued commands.
	Len() int

	// Exec sends the queued commands as one pipeline and awaits all
	// replies. It returns the first error in the order of the commands,
	// after all replies have arrived; a missing key is not an error here.
	// Without commands it does nothing.
	Exec(ctx context.Context) error

	// ExecTx is Exec with the commands between MULTI and EXEC, in the same
	// write: how=multipipe. The step-by-step transaction is Do on a Client
	// of Dial.
	ExecTx(ctx context.Context) error

	// Bytes is the value of command i, which was a Get: the caller's own,
	// ErrNil if the key is missing.
	Bytes(i int) ([]byte, error)

	// Int is the reply of command i, which was an Incr, HSet, RPush, SAdd
	// or ZAdd.
	Int(i int) (int64, error)

	// Err is the error of command i, whichever it was; for a Set it is nil
	// only if the server answered OK.
	Err(i int) error

	// Reset empties the Batch. Values that Bytes returned stay valid.
	Reset()
}
