package redigo_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"testing"
	"time"

	"rcbench/adapters"
	"rcbench/adapters/redigo"
)

// silent listens, accepts and never answers.
func silent(t *testing.T) adapters.Config {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return adapters.Config{Network: "tcp", Addr: l.Addr().String(), Setup: adapters.Lean}
}

// A caller who waits for a connection, and whose context ends just when the
// pool is closed, makes redigo's own Pool.Close panic in that caller.
func TestCloseWhileCallersGiveUp(t *testing.T) {
	cfg := silent(t)
	for range 200 {
		c, err := redigo.Driver.Open(t.Context(), cfg, 1)
		if err != nil {
			t.Fatal(err)
		}
		const callers = 8
		results := make(chan error, callers)
		ctx, cancel := context.WithCancel(t.Context())
		for range callers {
			go func() {
				_, err := c.Get(ctx, "k")
				results <- err
			}()
		}
		time.Sleep(time.Millisecond) // lets most of them wait
		c.Close()
		cancel()
		for range callers {
			if err := <-results; err == nil {
				t.Error("Get: got no error, want one")
			}
		}
	}
}

// redigo's TLS handshake has a timeout of 10 s, and does not look at ctx.
func TestContextBoundsTLS(t *testing.T) {
	cfg := silent(t)
	cfg.TLS = &tls.Config{ServerName: "localhost"}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	start := time.Now()
	_, err := redigo.Driver.Dial(ctx, cfg)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Dial: got error %v, want one that wraps %q", err, context.Canceled)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Dial: ended after %v, want soon after its context", took)
	}
}
