package goredisauto

import (
	"bufio"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"rcbench/adapters"
)

// TestCloseInFlight closes clients whose commands are not answered. go-redis
// alone would await them, for the 5 s of its read timeout at least.
func TestCloseInFlight(t *testing.T) {
	const soon = 3 * time.Second
	for _, setup := range []adapters.Setup{adapters.Stock, adapters.Lean} {
		t.Run(string(setup), func(t *testing.T) {
			addr, asked := silent(t)
			c, err := Driver.Share(t.Context(), adapters.Config{Network: "tcp", Addr: addr, Setup: setup})
			if err != nil {
				t.Fatal(err)
			}
			var callers sync.WaitGroup
			for range 10 {
				callers.Go(func() {
					if v, err := c.Get(t.Context(), "key"); err == nil {
						t.Errorf("Get: got %q, want an error", v)
					}
				})
			}
			<-asked
			start := time.Now()
			if err := c.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			callers.Wait()
			if took := time.Since(start); took > soon {
				t.Errorf("Close took %v, want less than %v", took, soon)
			}
		})
	}
}

// silent is a server that answers a handshake only. It sends when it has been
// asked for a value.
func silent(t *testing.T) (addr string, asked <-chan struct{}) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	got := make(chan struct{}, 1)
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		for s := bufio.NewScanner(nc); s.Scan(); {
			switch strings.ToLower(s.Text()) {
			case "hello":
				nc.Write([]byte("*2\r\n$5\r\nproto\r\n:3\r\n"))
			case "client":
				nc.Write([]byte("-ERR unknown subcommand\r\n"))
			case "ping":
				nc.Write([]byte("+PONG\r\n"))
			case "get":
				select {
				case got <- struct{}{}:
				default:
				}
			}
		}
	}()
	return l.Addr().String(), got
}
