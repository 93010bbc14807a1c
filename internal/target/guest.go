package target

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"rcbench/adapters"
)

// visit connects to a server that is not ours.
func visit(ctx context.Context, o Options, u *url.URL) (*Server, error) {
	e, err := parseGuest(u)
	if err != nil {
		return nil, fmt.Errorf("target: the %s:// URL %w", u.Scheme, err)
	}
	s := &Server{request: o.request(), endpoints: e, guest: true, foreign: true}
	s.Origin = "at " + e.Label
	cfg, err := e.configAny()
	if err != nil {
		return nil, fmt.Errorf("target %s %w", e.Label, err)
	}
	if err := probe(ctx, cfg); err != nil {
		return nil, fmt.Errorf("target %s: %w", e.Label, err)
	}
	if err := s.connect(ctx); err != nil {
		if s.control != nil {
			s.control.Close()
		}
		if refusedLogin(err) {
			err = fmt.Errorf("authentication failed at %s: %w", cfg.Addr, err)
		}
		return nil, fmt.Errorf("target %s: %w", e.Label, err)
	}
	return s, nil
}

// refusedLogin reports whether err is the reply to a wrong password, a missing
// one, or one that the server (before Redis 6) did not expect.
func refusedLogin(err error) bool {
	if !errors.Is(err, adapters.ErrReply) {
		return false
	}
	for _, text := range []string{"WRONGPASS", "NOAUTH", "invalid password", "ERR AUTH", "no password is set"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

// probe finds out, on a connection of its own, whether a Redis server listens at
// cfg: a client library that meets an HTTP server has no good words for it.
func probe(ctx context.Context, cfg adapters.Config) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, cfg.Network, cfg.Addr)
	if err != nil {
		return fmt.Errorf("no server reached at %s: %w", cfg.Addr, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if cfg.TLS != nil {
		t := tls.Client(conn, cfg.TLS)
		if err := t.HandshakeContext(ctx); err != nil {
			return fmt.Errorf("TLS handshake with %s: %w", cfg.Addr, err)
		}
		conn = t
	}
	if _, err := conn.Write([]byte("*1\r\n$4\r\nPING\r\n")); err != nil {
		return fmt.Errorf("no Redis server at %s: %w", cfg.Addr, err)
	}
	// An error reply will do, be it NOAUTH, LOADING or the refusal of a
	// server in protected mode: dial gets it again, and reports it.
	line, err := bufio.NewReaderSize(conn, 512).ReadSlice('\n')
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && context.Cause(ctx) == context.Canceled:
		return context.Canceled
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no Redis server at %s: no answer to PING within %v", cfg.Addr, answerTimeout)
	case string(line) == "+PONG\r\n", strings.HasPrefix(string(line), "-"):
		return nil
	case len(line) == 0:
		return fmt.Errorf("no Redis server at %s: PING: %w", cfg.Addr, err)
	}
	return fmt.Errorf("no Redis server at %s: the answer to PING is %.40q", cfg.Addr, line)
}

// clean deletes the keys below KeyPrefix, on a connection of its own: the
// control connection may have been left in the middle of a reply.
//
// Note: SCAN and UNLINK, never FLUSHDB, which takes the keys of others too.
func (s *Server) clean() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanTimeout)
	defer cancel()
	cfg, err := s.configAny()
	if err != nil {
		return err
	}
	c, err := dial(ctx, cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	remove := "UNLINK"
	for cursor := "0"; ; {
		reply, err := c.Do(ctx, "SCAN", cursor, "MATCH", KeyPrefix+"*", "COUNT", "1000")
		if err != nil {
			return err
		}
		var keys []string
		cursor, keys, err = scanned(reply)
		if err != nil {
			return err
		}
		if len(keys) > 0 {
			_, err = c.Do(ctx, append([]string{remove}, keys...)...)
			if remove == "UNLINK" && errors.Is(err, adapters.ErrReply) {
				remove = "DEL" // before Redis 4, and in miniredis
				_, err = c.Do(ctx, append([]string{remove}, keys...)...)
			}
			if err != nil {
				return err
			}
		}
		if cursor == "0" {
			return nil
		}
	}
}

// scanned takes a reply of SCAN apart.
func scanned(reply any) (cursor string, keys []string, err error) {
	parts, _ := reply.([]any)
	if len(parts) != 2 {
		return "", nil, adapters.Unexpected("SCAN", reply, "cursor and keys")
	}
	cursor, ok := parts[0].(string)
	list, ok2 := parts[1].([]any)
	if !ok || !ok2 {
		return "", nil, adapters.Unexpected("SCAN", reply, "cursor and keys")
	}
	for _, k := range list {
		// KeyPrefix is asked for and checked: nothing else is ever deleted.
		if key, ok := k.(string); ok && strings.HasPrefix(key, KeyPrefix) {
			keys = append(keys, key)
		}
	}
	return cursor, keys, nil
}
