// Package resp is the floor: the least code that writes RESP to a net.Conn
// and reads the reply under the same contract as every other client, with
// owned values and checked replies. Its row says what the socket and the
// server cost, and reports give the other clients as a multiple of it. It is
// a yardstick and not a client library: it does not reconnect, and a
// connection that failed answers every further command with that failure.
//
// On connect it sends nothing unless it must: HELLO 3 for Protocol 3, AUTH,
// SELECT, in one write. Stock and lean are the same. There is no background
// traffic and no goroutine of its own.
//
// Memory per connection: a read buffer of 16 KiB and a write buffer that
// grows to the largest command.
package resp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"rcbench/adapters"
)

// Driver is the floor's driver.
var Driver adapters.Driver = driver{}

type driver struct{}

func (driver) Name() string    { return "resp" }
func (driver) Version() string { return "floor" }

func (driver) Lacks() map[adapters.Capability]string { return lacks }

var lacks = map[adapters.Capability]string{
	adapters.CapMultiplex: "the floor awaits each reply before the next command of a connection",
	adapters.CapAsync:     "the floor has explicit pipelines only",
}

func (driver) Dial(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	w, err := dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &client{own: w, all: []*wire{w}}, nil
}

func (d driver) Share(context.Context, adapters.Config) (adapters.Client, error) {
	return nil, adapters.Lacking(d, adapters.CapMultiplex)
}

func (driver) Open(ctx context.Context, cfg adapters.Config, conns int) (adapters.Client, error) {
	if err := cfg.Check(conns); err != nil {
		return nil, adapters.DialError("resp", cfg, err)
	}
	c := &client{idle: make(chan *wire, conns), closed: make(chan struct{})}
	for range conns {
		w, err := dial(ctx, cfg)
		if err != nil {
			c.Close()
			return nil, err
		}
		c.all = append(c.all, w)
		c.idle <- w
	}
	return c, nil
}

// dial makes one connection with its handshake done.
func dial(ctx context.Context, cfg adapters.Config) (*wire, error) {
	if err := cfg.Check(1); err != nil {
		return nil, adapters.DialError("resp", cfg, err)
	}
	if cfg.DialTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cfg.DialTimeout)
		defer cancel()
	}
	var nc net.Conn
	var err error
	if cfg.TLS != nil {
		nc, err = (&tls.Dialer{Config: cfg.TLS}).DialContext(ctx, cfg.Network, cfg.Addr)
	} else {
		nc, err = (&net.Dialer{}).DialContext(ctx, cfg.Network, cfg.Addr)
	}
	if err != nil {
		return nil, adapters.DialError("resp", cfg, err)
	}
	w := newWire(nc, cfg.IOTimeout)
	if err := w.handshake(ctx, cfg); err != nil {
		nc.Close()
		return nil, adapters.DialError("resp", cfg, err)
	}
	return w, nil
}

// handshake sends what cfg asks for in one write and checks the replies.
func (w *wire) handshake(ctx context.Context, cfg adapters.Config) error {
	user := cfg.Username
	if user == "" {
		user = "default"
	}
	var sent []string
	switch {
	case cfg.Protocol == 3 && cfg.Password != "":
		w.command("HELLO", "3", "AUTH", user, cfg.Password)
		sent = append(sent, "HELLO")
	case cfg.Protocol == 3:
		w.command("HELLO", "3")
		sent = append(sent, "HELLO")
	case cfg.Password != "" && cfg.Username != "":
		w.command("AUTH", cfg.Username, cfg.Password)
		sent = append(sent, "AUTH")
	case cfg.Password != "":
		w.command("AUTH", cfg.Password)
		sent = append(sent, "AUTH")
	}
	if cfg.DB != 0 {
		w.command("SELECT", strconv.Itoa(cfg.DB))
		sent = append(sent, "SELECT "+strconv.Itoa(cfg.DB))
	}
	if len(sent) == 0 {
		return nil
	}
	w.begin(ctx)
	w.flush()
	for _, name := range sent {
		if _, err := w.any(); err != nil {
			return w.end(ctx, fmt.Errorf("%s: %w", name, err))
		}
	}
	if err := w.end(ctx, nil); err != nil {
		return err
	}
	return w.err // not nil if ctx ended after the last reply
}

// client is one connection (own), or a pool of them (idle).
type client struct {
	own    *wire
	idle   chan *wire
	closed chan struct{} // ends the wait for an idle connection
	all    []*wire
	once   sync.Once // Close
}

var (
	_ adapters.Client = (*client)(nil)
	_ adapters.Driver = driver{}
)

var errClosed = errors.New("resp: client is closed")

// take returns a connection for one exchange; give ends it.
func (c *client) take(ctx context.Context) (*wire, error) {
	if ctx.Done() != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	w := c.own
	if w == nil {
		select {
		case w = <-c.idle:
		case <-c.closed:
			return nil, errClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	exchanges.Add(1)
	w.begin(ctx)
	return w, nil
}

func (c *client) give(ctx context.Context, w *wire, err error) error {
	err = w.end(ctx, err)
	exchanges.Add(-1)
	if c.own == nil {
		c.idle <- w
	}
	return err
}

// Close closes the sockets, which also ends commands that are in flight.
func (c *client) Close() error {
	var err error
	c.once.Do(func() {
		if c.closed != nil {
			close(c.closed)
		}
		for _, w := range c.all {
			err = errors.Join(err, w.nc.Close())
		}
	})
	return err
}

// aLongTimeAgo makes reads and writes in progress fail at once.
var aLongTimeAgo = time.Unix(1, 0)
