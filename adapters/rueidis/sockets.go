package rueidis

import (
	"context"
	"crypto/tls"
	"net"
	"sync"

	"github.com/redis/rueidis"
)

// errRefused is what rueidis' own dead connections answer, so that nothing
// inside it changes because the first dial was refused.
var errRefused = rueidis.ErrClosing

// sockets dials the connections of one Conn as rueidis itself does, also to unix
// sockets, and remembers them to be able to close them.
type sockets struct {
	network string

	mu      sync.Mutex
	opening context.Context // of Connect, until it has returned
	refuse  bool            // the next dial
	closed  bool
	// Those that rueidis has closed and replaced stay until close: they
	// are few, and closing them again does nothing.
	conns []net.Conn
}

func (s *sockets) dial(ctx context.Context, addr string, d *net.Dialer, config *tls.Config) (net.Conn, error) {
	s.mu.Lock()
	refuse, opening := s.refuse, s.opening
	s.refuse = false
	s.mu.Unlock()
	if refuse {
		return nil, errRefused
	}
	if opening != nil {
		ctx = opening
	}
	var conn net.Conn
	var err error
	if config != nil {
		conn, err = (&tls.Dialer{NetDialer: d, Config: config}).DialContext(ctx, s.network, addr)
	} else {
		conn, err = d.DialContext(ctx, s.network, addr)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		conn.Close()
		return nil, net.ErrClosed
	}
	s.conns = append(s.conns, conn)
	return conn, nil
}

// opened ends the time in which the context of Connect bounds each dial.
func (s *sockets) opened() {
	s.mu.Lock()
	s.opening = nil
	s.mu.Unlock()
}

// close closes every socket, and those to come.
func (s *sockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, conn := range s.conns {
		conn.Close()
	}
	s.conns = nil
}
