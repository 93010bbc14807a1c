package goredisauto

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// sockets knows the connections of a client, so that they can be closed under
// it. The client sees them as they are, not wrapped.
type sockets struct {
	mu     sync.Mutex
	conns  []net.Conn
	closed bool
}

// record makes connections that are dialled with opt known to s.
func (s *sockets) record(opt *redis.Options) {
	if opt.DialTimeout == 0 {
		opt.DialTimeout = 5 * time.Second // go-redis sets its default too late for NewDialer
	}
	dial := redis.NewDialer(opt)
	opt.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if s.isClosed() {
			return dead(), nil
		}
		nc, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return s.add(nc), nil
	}
}

func (s *sockets) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *sockets) add(nc net.Conn) net.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		nc.Close()
		return nc
	}
	s.conns = append(s.conns, nc)
	return nc
}

func (s *sockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, nc := range s.conns {
		nc.Close() // an error says that the client closed it before
	}
	s.conns = nil
}

// dead is a connection whose first use fails. An error of the dial itself
// would be retried, with a pause of 100 ms, and go-redis would then probe the
// server from a goroutine that outlives Close by a second.
func dead() net.Conn {
	nc, _ := net.Pipe()
	nc.Close()
	return nc
}
