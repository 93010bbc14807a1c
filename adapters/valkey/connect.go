package valkey

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/valkey-io/valkey-go"

	"rcbench/adapters"
)

// A Kind is how a client holds its connections; the package comment says what
// each one means to valkey-go.
type Kind int

// One connection for one goroutine, one for all goroutines, or a pool.
const (
	Own Kind = iota
	Shared
	Pool
)

// A Conn is a valkey.Client with as many connections as were asked for.
type Conn struct {
	valkey.Client
	where   string // driver and address, for errors
	sockets *sockets
	once    sync.Once // Close
}

var _ valkey.Client = (*Conn)(nil)

// Connect opens the connections for the driver called name: conns of them for
// Pool, else one. All are established when it returns.
func Connect(ctx context.Context, name string, cfg adapters.Config, kind Kind, conns int) (*Conn, error) {
	c := &Conn{where: name + ": " + cfg.Addr}
	if err := c.connect(ctx, cfg, kind, conns); err != nil {
		return nil, adapters.DialError(name, cfg, err)
	}
	return c, nil
}

func (c *Conn) connect(ctx context.Context, cfg adapters.Config, kind Kind, conns int) error {
	if err := cfg.Check(conns); err != nil {
		return err
	}
	opt := options(cfg, kind, conns)
	if err := ctx.Err(); err != nil {
		return err
	}
	c.sockets = &sockets{network: cfg.Network, opening: ctx, refuse: kind == Pool}
	opt.DialCtxFn = c.sockets.dial

	// NewClient takes no context: when this one is done, the handshake ends
	// because its socket does.
	stop := func() bool { return true }
	if ctx.Done() != nil {
		stop = context.AfterFunc(ctx, c.sockets.close)
	}
	var err error
	if c.Client, err = valkey.NewClient(opt); kind == Pool && errors.Is(err, errRefused) {
		err = nil
	}
	if err == nil && c.Mode() != valkey.ClientModeStandalone {
		err = fmt.Errorf("the server answers CLUSTER SLOTS, so setup=stock makes a cluster client, with a connection "+
			"to each node: %w", adapters.ErrUnsupported)
	}
	if err == nil && kind == Pool {
		err = c.fill(ctx, conns)
	}
	if errors.Is(err, valkey.ErrNoCache) { // The server lacks CLIENT TRACKING or RESP3, as miniredis does.
		reply, _, _ := strings.Cut(err.Error(), "\n") // Advice follows.
		err = fmt.Errorf("setup=stock turns on client-side caching: %s: %w", reply, adapters.ErrUnsupported)
	}
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		if c.Client != nil {
			c.Client.Close()
		}
		c.sockets.close()
	}
	c.sockets.opened()
	return err
}

// options says which options each setup and kind sets, and why.
func options(cfg adapters.Config, kind Kind, conns int) valkey.ClientOption {
	opt := valkey.ClientOption{
		InitAddress: []string{cfg.Addr},
		Username:    cfg.Username,
		Password:    cfg.Password,
		SelectDB:    cfg.DB,
		TLSConfig:   cfg.TLS,

		// The default is up to four connections, by GOMAXPROCS.
		PipelineMultiplex: -1,
		// By default a pipeline of 2,000 commands opens a connection for itself.
		BlockingPipeline: -1,

		ConnWriteTimeout: cfg.IOTimeout,
	}
	opt.Dialer.Timeout = cfg.DialTimeout // Of the connect, and again of the handshake.

	if cfg.Protocol == 2 {
		opt.AlwaysRESP2 = true
		opt.DisableCache = true // Else NewClient answers ErrNoCache.
	}
	if cfg.Setup == adapters.Lean {
		opt.ForceSingleClient = true
		opt.DisableCache = true
		opt.DisableRetry = true
		opt.ClientSetInfo = valkey.DisableClientSetInfo
		opt.Dialer.KeepAlive = -1 // Also the interval of the PINGs.
		if kind == Shared && cfg.IOTimeout > 0 {
			// In the background pipeline a PING that is not answered
			// in time is the only timeout there is.
			opt.Dialer.KeepAlive = min(cfg.IOTimeout, valkey.DefaultTCPKeepAlive)
		}
	}
	if kind == Pool {
		opt.DisableAutoPipelining = true
		opt.BlockingPoolSize = conns
		// NewClient dials a pipelined connection that such a client does
		// not use. A single client (see newSingleClient in client.go) is
		// sound without it, so sockets refuses that dial, and the pool
		// has all the connections there are.
		opt.ForceSingleClient = true
	}
	return opt
}

// fill makes the pool dial all of its connections: a stream holds one from
// DoStream until its reply is read.
//
// Note: Dedicate, which names what is wanted, takes from another pool than the
// one that commands use without auto pipelining.
func (c *Conn) fill(ctx context.Context, conns int) error {
	held := make([]valkey.ValkeyResultStream, conns)
	for i := range held {
		held[i] = c.DoStream(ctx, c.B().Ping().Build())
	}
	var first error
	for i := range held {
		if _, err := held[i].WriteTo(io.Discard); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Do is Client.Do, but does not get as far as the pool when ctx is done.
//
// Note: the pool of v1.0.79 answers such a context with a connection it has not
// counted, uncounts it afterwards, and then opens one more than its size. That
// remains for a context that ends while its command waits for a connection.
func (c *Conn) Do(ctx context.Context, cmd valkey.Completed) valkey.ValkeyResult {
	if err := ctx.Err(); err != nil {
		return valkey.NewErrorResult(err)
	}
	return c.Client.Do(ctx, cmd)
}

// DoMulti is to Client.DoMulti what Do is to Client.Do.
func (c *Conn) DoMulti(ctx context.Context, cmds ...valkey.Completed) []valkey.ValkeyResult {
	if err := ctx.Err(); err != nil {
		results := make([]valkey.ValkeyResult, len(cmds))
		for i := range results {
			results[i] = valkey.NewErrorResult(err)
		}
		return results
	}
	return c.Client.DoMulti(ctx, cmds...)
}

// Close lets the client say goodbye, for which it gives a silent server one
// second, and then closes the sockets under the commands that still wait:
// valkey-go closes a pooled connection only when its command has ended.
func (c *Conn) Close() {
	c.once.Do(func() {
		c.Client.Close()
		c.sockets.close()
	})
}

// Err turns an error of valkey-go into one of this contract.
//
// Note: valkey-go cuts the prefix "ERR " off the server's text (ValkeyMessage.Error).
func (c *Conn) Err(err error) error {
	if err == nil {
		return nil
	}
	return c.wrap(err)
}

func (c *Conn) wrap(err error) error {
	if valkey.IsValkeyNil(err) {
		return adapters.ErrNil
	}
	if reply, ok := valkey.IsValkeyErr(err); ok {
		return adapters.ReplyError(reply.Error())
	}
	return fmt.Errorf("%s: %w", c.where, err)
}

// Reply turns what ToAny returned into what Client.Do of the contract returns:
// error replies inside an array are the only difference.
func Reply(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = Reply(v[i])
		}
	case *valkey.ValkeyError:
		return adapters.ReplyError(v.Error())
	}
	return v
}
