package adaptertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"rcbench/adapters"
	"rcbench/adapters/resp"
	"rcbench/adapters/rueidis"
)

// A brokenDriver is a sound driver with one fault.
type brokenDriver struct {
	fault  string
	driver func(t *testing.T) adapters.Driver
	want   string   // the check that must find it
	says   string   // what the error must contain; empty for anything
	also   []string // the checks that may find it too, because they need what is broken
}

// A mutant is a driver whose connections or clients are tampered with.
type mutant struct {
	adapters.Driver
	lacks   map[adapters.Capability]string // instead of the driver's; nil for those
	name    string
	version string

	// share replaces Share; config changes what the driver is asked for;
	// dialed changes what it answers, and client a client that it made.
	share  func(ctx context.Context, cfg adapters.Config) (adapters.Client, error)
	config func(*adapters.Config)
	dialed func(c adapters.Client, err error, cfg adapters.Config) (adapters.Client, error)
	client func(c adapters.Client, cfg adapters.Config) adapters.Client
}

func (m mutant) Name() string    { return cmp.Or(m.name, m.Driver.Name()) }
func (m mutant) Version() string { return cmp.Or(m.version, m.Driver.Version()) }

func (m mutant) Lacks() map[adapters.Capability]string {
	if m.lacks != nil {
		return m.lacks
	}
	return m.Driver.Lacks()
}

func (m mutant) Dial(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	return m.make(cfg, func(cfg adapters.Config) (adapters.Client, error) { return m.Driver.Dial(ctx, cfg) })
}

func (m mutant) Share(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	if m.share != nil {
		return m.share(ctx, cfg)
	}
	return m.make(cfg, func(cfg adapters.Config) (adapters.Client, error) { return m.Driver.Share(ctx, cfg) })
}

func (m mutant) Open(ctx context.Context, cfg adapters.Config, conns int) (adapters.Client, error) {
	return m.make(cfg, func(cfg adapters.Config) (adapters.Client, error) { return m.Driver.Open(ctx, cfg, conns) })
}

func (m mutant) make(cfg adapters.Config, open func(adapters.Config) (adapters.Client, error)) (adapters.Client, error) {
	changed := cfg
	if m.config != nil {
		m.config(&changed)
	}
	c, err := open(changed)
	if m.dialed != nil {
		return m.dialed(c, err, cfg)
	}
	if err != nil || m.client == nil {
		return c, err
	}
	return m.client(c, cfg), nil
}

// floor is a mutant of the floor.
func floor(m mutant) func(*testing.T) adapters.Driver {
	m.Driver = resp.Driver
	return func(*testing.T) adapters.Driver { return m }
}

func clientOf(wrap func(adapters.Client) adapters.Client) func(*testing.T) adapters.Driver {
	return floor(mutant{client: func(c adapters.Client, _ adapters.Config) adapters.Client { return wrap(c) }})
}

func batchOf(wrap func(adapters.Client, adapters.Batch) adapters.Batch) func(*testing.T) adapters.Driver {
	return clientOf(func(c adapters.Client) adapters.Client { return batching{c, wrap} })
}

type batching struct {
	adapters.Client
	wrap func(adapters.Client, adapters.Batch) adapters.Batch
}

func (b batching) NewBatch(n int) adapters.Batch { return b.wrap(b.Client, b.Client.NewBatch(n)) }

// sharing is a mutant of a client that multiplexes, in Share only.
func sharing(wrap func(adapters.Client) adapters.Client) func(*testing.T) adapters.Driver {
	return func(*testing.T) adapters.Driver {
		return mutant{
			Driver: rueidis.Driver,
			share: func(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
				c, err := rueidis.Driver.Share(ctx, cfg)
				if err != nil {
					return nil, err
				}
				return wrap(c), nil
			},
		}
	}
}

var brokenDrivers = []brokenDriver{
	// What is said.
	{"name with a digit", floor(mutant{name: "resp2"}), "name and version", `"resp2"`, []string{"dial errors name the address"}},
	{"version of nothing", floor(mutant{version: "latest"}), "name and version", `"latest"`, nil},
	{"lack without a reason", floor(mutant{lacks: map[adapters.Capability]string{
		adapters.CapMultiplex: "it does not", adapters.CapAsync: " ",
	}}), "capabilities are true", `no reason for "async"`, nil},
	{"lack of something unknown", floor(mutant{lacks: map[adapters.Capability]string{
		adapters.CapMultiplex: "it does not", adapters.CapAsync: "it does not", "telepathy": "it is a machine",
	}}), "capabilities are true", `"telepathy"`, nil},
	{"lack that is not there", floor(mutant{lacks: map[adapters.Capability]string{
		adapters.CapMultiplex: "it does not", adapters.CapAsync: "it does not", adapters.CapRESP3: "it says so",
	}}), "capabilities are true", "dial with Protocol 3: got error <nil>", nil},
	{"share of an exclusive connection", floor(mutant{share: func(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
		return resp.Driver.Dial(ctx, cfg)
	}}), "capabilities are true", "Share without multiplex: got error <nil>", nil},
	{"async that is not there", sharing(func(c adapters.Client) adapters.Client { return struct{ adapters.Client }{c} }),
		"capabilities are true", "Async implemented false, lacking false", []string{"async"}},
	{"database that cannot be", floor(mutant{config: func(cfg *adapters.Config) { cfg.DB = max(cfg.DB, 0) }}),
		"what cannot be honoured is refused", "dial with database -1: got error <nil>", nil},
	{"lean by default", func(*testing.T) adapters.Driver {
		return mutant{Driver: rueidis.Driver, config: func(cfg *adapters.Config) { cfg.Setup = cmp.Or(cfg.Setup, adapters.Lean) }}
	}, "no setup is stock", "commands sent by Dial without a setup", nil},

	// What is answered.
	{"wrong length", clientOf(func(c adapters.Client) adapters.Client { return wrongLength{c} }),
		"strings", "Strlen: got 15, want 14", []string{"binary-safe"}},
	{"only the first field set", clientOf(func(c adapters.Client) adapters.Client { return firstField{c} }),
		"hashes", "got 1, want 2", nil},
	{"list upside down", clientOf(func(c adapters.Client) adapters.Client { return upsideDown{c} }),
		"lists", "LRange 0 -1", nil},
	{"old members counted", clientOf(func(c adapters.Client) adapters.Client { return countsAll{c} }),
		"sets", "got 3, want 1", nil},
	{"score in single precision", clientOf(func(c adapters.Client) adapters.Client { return singlePrecision{c} }),
		"sorted sets", "ZPopMin", nil},
	{"only the first key deleted", clientOf(func(c adapters.Client) adapters.Client { return deletesOne{c} }),
		"keys", "Del of two keys", []string{"binary-safe"}},
	{"nil as the empty string", clientOf(func(c adapters.Client) adapters.Client { return nilIsEmpty{c} }),
		"missing is ErrNil", "RPop of a missing key: got error <nil>", nil},
	{"error reply swallowed", clientOf(func(c adapters.Client) adapters.Client { return swallows{c} }),
		"error reply is an error", "HSet of a key that holds something else: got error <nil>", nil},
	{"error reply without its text", clientOf(func(c adapters.Client) adapters.Client { return loses{c} }),
		"error reply is an error", "RPush of a key that holds something else: got error \"error reply\"", nil},
	{"any status taken for OK", clientOf(func(c adapters.Client) adapters.Client { return gullible{c} }),
		"unexpected reply is an error", "Set, answered QUEUED: got no error", nil},
	{"nested arrays flattened", clientOf(func(c adapters.Client) adapters.Client { return flat{c} }),
		"do", "XRANGE", nil},
	{"value cut at the line end", clientOf(func(c adapters.Client) adapters.Client { return lineByLine{c} }),
		"binary-safe", "SPop", nil},
	{"buffer handed out", clientOf(func(c adapters.Client) adapters.Client { return &handsOut{Client: c} }),
		"values are the caller's", "has changed after it was returned", nil},
	{"arguments appended to", clientOf(func(c adapters.Client) adapters.Client { return appends{c} }),
		"arguments are left alone", "MSet: the arguments", nil},

	// Batches.
	{"batch that counts one too many", batchOf(func(_ adapters.Client, b adapters.Batch) adapters.Batch { return oneMore{b} }),
		"batch", "Int of", []string{"batch errors stay at their index", "replies reach their askers"}},
	{"batch that fails as a whole", batchOf(func(_ adapters.Client, b adapters.Batch) adapters.Batch { return &allOrNothing{Batch: b} }),
		"batch errors stay at their index", "Bytes after errors", nil},
	{"empty batch sent", batchOf(func(c adapters.Client, b adapters.Batch) adapters.Batch { return chatty{b, c} }),
		"batch is empty", "ping:", nil},
	{"batch not emptied", batchOf(func(_ adapters.Client, b adapters.Batch) adapters.Batch { return lenient{b} }),
		"batch is used again", "panics when a command is queued before Reset: got false", nil},
	{"batch executed again", batchOf(func(_ adapters.Client, b adapters.Batch) adapters.Batch { return resends{b} }),
		"batch is executed once", "Exec, then Exec: panics: got false", nil},
	{"batch of limited length", batchOf(func(_ adapters.Client, b adapters.Batch) adapters.Batch { return limited{b} }),
		"batch is larger than any buffer", "too long", nil},
	{"batch that keeps its connection", clientOf(func(c adapters.Client) adapters.Client { return &holdsOn{Client: c} }),
		"batch gives its connection back", "Ping after Exec: not within", nil},
	{"transaction without MULTI", batchOf(func(_ adapters.Client, b adapters.Batch) adapters.Batch { return untransacted{b} }),
		"transaction", "ExecTx: commands that reached the server", nil},
	{"EXEC on another connection", floor(mutant{client: func(c adapters.Client, cfg adapters.Config) adapters.Client {
		return elsewhere{c, cfg}
	}}), "transaction step by step", "EXEC without MULTI", nil},
	{"batch sent command by command", batchOf(func(c adapters.Client, b adapters.Batch) adapters.Batch { return &stepwise{Batch: b, c: c} }),
		"batch is one pipeline", "1 of 50 get have reached the server", []string{"connection cut in mid-reply"}},
	{"reset that sends", batchOf(func(_ adapters.Client, b adapters.Batch) adapters.Batch { return &sendsOnReset{Batch: b} }),
		"reset drops commands", "EXISTS", []string{"batch is empty"}},

	// What reaches the server.
	{"answer from a cache", clientOf(func(c adapters.Client) adapters.Client {
		return &caching{Client: c, values: map[string][]byte{}}
	}), "server sees each command once", "9 x Get: got map[get:7]", nil},
	{"refused command sent again", clientOf(func(c adapters.Client) adapters.Client { return insists{c} }),
		"server sees each command once", "6 x ZAdd: got map[zadd:9]", nil},
	{"reply not awaited", clientOf(func(c adapters.Client) adapters.Client { return hasty{c} }),
		"reply is awaited", "ZAdd: returned <nil> while the server had not answered", nil},

	// Concurrency.
	{"unsafe for concurrent use", clientOf(func(c adapters.Client) adapters.Client { return &mixesUp{Client: c} }),
		"replies reach their askers", "Get: got", nil},
	{"shared connection that is lent", sharing(func(c adapters.Client) adapters.Client { return &oneAtATime{asyncClient: both(c)} }),
		"shared connection carries all callers", "1 of 8 get have reached the server", []string{"close ends commands in flight"}},
	{"pool that does not wait", floor(mutant{client: func(c adapters.Client, cfg adapters.Config) adapters.Client {
		return overflows{c, cfg}
	}}), "pool lends a connection to one caller", "want it to wait", nil},
	{"async out of order", sharing(func(c adapters.Client) adapters.Client { return outOfOrder{both(c)} }),
		"async", "GetAll: value 0", nil},
	{"async one by one", sharing(func(c adapters.Client) adapters.Client { return oneByOne{both(c)} }),
		"async", "1 of 40 get have reached the server", nil},

	// Connections.
	{"stock without unix sockets", floor(mutant{config: func(cfg *adapters.Config) {
		if cfg.Network == "unix" && cfg.Setup == adapters.Stock {
			cfg.Addr += "x"
		}
	}}), "every transport and setup", "unix stock dial", nil},
	{"protocol that is a default", floor(mutant{config: func(cfg *adapters.Config) {
		if cfg.Protocol == 3 {
			cfg.Protocol = 0
		}
	}}), "protocol", "want a hello", nil},
	{"database ignored", floor(mutant{config: func(cfg *adapters.Config) {
		if cfg.DB == 3 {
			cfg.DB = 0
		}
	}}), "database", "EXISTS", nil},
	{"password shown", floor(mutant{dialed: func(c adapters.Client, err error, cfg adapters.Config) (adapters.Client, error) {
		if errors.Is(err, adapters.ErrReply) {
			err = fmt.Errorf("%w (the password was %s)", err, cfg.Password)
		}
		return c, err
	}}), "password", "the error shows the password", nil},
	{"address not named", floor(mutant{dialed: func(c adapters.Client, err error, _ adapters.Config) (adapters.Client, error) {
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			return c, errors.New("resp: no connection")
		}
		return c, err
	}}), "dial errors name the address", "want the address", nil},
	{"dial timeout ignored", floor(mutant{config: func(cfg *adapters.Config) { cfg.DialTimeout = min(cfg.DialTimeout, 0) }}),
		"dial is bounded", "DialTimeout", nil},
	{"one connection more than asked", floor(mutant{client: withSpare}),
		"connections as asked", "got 2, want 1", nil},

	// Contexts.
	{"done context ignored", clientOf(func(c adapters.Client) adapters.Client { return careless{c} }),
		"done context sends nothing", "Strlen", nil},
	{"life bound to the context of Dial", func(*testing.T) adapters.Driver { return bound{mutant{Driver: resp.Driver}} },
		"context of Dial ends with Dial", "closed", nil},
	{"cancel ignored", clientOf(func(c adapters.Client) adapters.Client { return deaf{Client: c, toCancel: true} }),
		"cancel ends a command in flight", "Set in flight: not within", nil},
	{"deadline ignored", clientOf(func(c adapters.Client) adapters.Client { return deaf{Client: c, toDeadline: true} }),
		"deadline ends a command in flight", "Set in flight: not within", nil},
	{"IOTimeout ignored", floor(mutant{config: func(cfg *adapters.Config) { cfg.IOTimeout = min(cfg.IOTimeout, 0) }}),
		"IOTimeout ends a command in flight", "in flight: not within", nil},

	// Faults, and the end.
	{"part of a value returned", clientOf(func(c adapters.Client) adapters.Client { return partial{c} }),
		"connection cut in mid-reply", "Get", nil},
	{"sent again on a new connection", floor(mutant{client: func(c adapters.Client, cfg adapters.Config) adapters.Client {
		return reconnects{c, cfg}
	}}),
		"connection cut in mid-reply", "the server was asked 2 times", nil},
	{"connection left open", clientOf(func(c adapters.Client) adapters.Client { return &forgets{Client: c} }),
		"close ends every connection", "clients connected", []string{
			"close ends commands in flight", "connections as asked", "batch is one pipeline"}},
	{"goroutine left", func(t *testing.T) adapters.Driver {
		end := make(chan struct{})
		t.Cleanup(func() { close(end) })
		return clientOf(func(c adapters.Client) adapters.Client { go func() { <-end }(); return c })(t)
	}, "close ends every goroutine", "goroutines left by Close", nil},
	{"close that waits for replies", clientOf(func(c adapters.Client) adapters.Client { return &polite{Client: c} }),
		"close ends commands in flight", "not within", nil},
}
