// Package valkey drives github.com/valkey-io/valkey-go, the fork of rueidis under
// the roof of Valkey, which pipelines the commands of concurrent callers over few
// connections by itself. Its types have other names, so the driver is a package
// of its own: that of package rueidis, and kept so that diff shows only names.
//
// On connect a stock client sends, in one write, HELLO 3 (with AUTH), CLIENT
// TRACKING ON OPTIN, SELECT if asked for, and CLIENT SETINFO twice, which servers
// before Redis 7.2 refuse and valkey-go ignores. Its first connection then sends
// CLUSTER SLOTS: NewClient tries a cluster, and falls back to a single server
// when that is refused. A connection that can pipeline sends PING for each second
// that it is idle, even between the steps of a transaction. Read-only commands
// are tried again for ever, unless their context ends. Lean sends HELLO and
// SELECT, has no PING and does not try again. Both send a last PING on Close.
//
// How connections are held:
//
//	own     one connection that can pipeline (PipelineMultiplex -1). A lone
//	        caller writes and reads on its own goroutine. The first concurrent
//	        call, which the PING of a stock client can be, and a context that
//	        can be cancelled and has no deadline move the connection to the
//	        background pipeline, for the rest of its life.
//	shared  the same, used by all goroutines. The first command is synchronous
//	        here too: what is sent while it waits leaves after its reply.
//	pool    DisableAutoPipelining: each command takes a connection out of a
//	        pool and is synchronous on it. Open sends one PING over each, and
//	        there are neither other PINGs nor CLUSTER SLOTS.
//
// Note: AlwaysPipelining would have a shared connection pipeline from its first
// command, but it is off by default, and it takes a lone caller's synchronous way
// from it.
//
// Memory per connection: 512 KiB to read and 512 KiB to write, and 350 KiB more,
// most of it a ring of 1,024 slots, if it can pipeline.
package valkey

import (
	"context"

	"github.com/valkey-io/valkey-go"

	"rcbench/adapters"
)

// Driver is the driver of valkey-go.
var Driver adapters.Driver = driver{}

type driver struct{}

var _ adapters.Driver = driver{}

func (driver) Name() string    { return "valkey" }
func (driver) Version() string { return adapters.LinkedVersion(valkey.NewClient) }

func (driver) Lacks() map[adapters.Capability]string { return lacks }

var lacks = map[adapters.Capability]string{
	// README, "Canceling a Context Before Its Deadline".
	adapters.CapCancel: "only the background pipeline watches a context: a pooled connection, " +
		"and a lone command whose context has a deadline, reads on until the reply or the deadline",
}

func (d driver) Dial(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	conn, err := Connect(ctx, d.Name(), cfg, Own, 1)
	if err != nil {
		return nil, err
	}
	return &client{conn}, nil
}

func (d driver) Share(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	conn, err := Connect(ctx, d.Name(), cfg, Shared, 1)
	if err != nil {
		return nil, err
	}
	return &shared{client{conn}}, nil
}

func (d driver) Open(ctx context.Context, cfg adapters.Config, conns int) (adapters.Client, error) {
	conn, err := Connect(ctx, d.Name(), cfg, Pool, conns)
	if err != nil {
		return nil, err
	}
	return &client{conn}, nil
}
