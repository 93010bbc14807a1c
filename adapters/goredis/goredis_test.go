package goredis

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"rcbench/adapters"
)

// TestHandshake keeps what the package comment says about each setup.
func TestHandshake(t *testing.T) {
	const (
		hello  = "hello 3"
		maint  = "client maint_notifications on moving-endpoint-type internal-ip"
		libs   = "client setinfo lib-name"
		libVer = "client setinfo lib-ver"
		ping   = "ping"
	)
	for _, tt := range []struct {
		name  string
		cfg   adapters.Config
		conns int
		want  []string
	}{
		{"stock", adapters.Config{Setup: adapters.Stock}, 1,
			[]string{hello, maint, libs, libVer, ping}},
		{"stock, once maintenance notifications were refused", adapters.Config{Setup: adapters.Stock}, 2,
			[]string{hello, maint, libs, libVer, ping, hello, libs, libVer, ping}},
		{"lean", adapters.Config{Setup: adapters.Lean}, 2,
			[]string{hello, ping, hello, ping}},
		{"lean with RESP2", adapters.Config{Setup: adapters.Lean, Protocol: 2}, 1,
			[]string{"hello 2", ping}},
		{"lean with password and database", adapters.Config{Setup: adapters.Lean, Password: "secret", DB: 3}, 1,
			[]string{"hello 3 auth default secret", "select 3", ping}},
		{"lean with user", adapters.Config{Setup: adapters.Lean, Username: "u", Password: "secret"}, 1,
			[]string{"hello 3 auth u secret", ping}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t)
			tt.cfg.Network, tt.cfg.Addr = "tcp", s.addr
			c, err := Driver.Open(t.Context(), tt.cfg, tt.conns)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if got := s.commands(); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// A fake is a server that notes what it is asked, and knows no CLIENT command.
type fake struct {
	addr string
	mu   sync.Mutex
	got  []string
}

func serve(t *testing.T) *fake {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &fake{addr: l.Addr().String()}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go s.answer(nc)
		}
	}()
	return s
}

func (s *fake) answer(nc net.Conn) {
	defer nc.Close()
	for r := bufio.NewReader(nc); ; {
		command, err := read(r)
		if err != nil {
			return
		}
		reply := "+OK\r\n"
		switch strings.ToLower(command[0]) {
		case "hello":
			reply = "*2\r\n$5\r\nproto\r\n:" + command[1] + "\r\n"
		case "client":
			reply = "-ERR unknown subcommand\r\n"
			if command[1] == "setinfo" {
				command = command[:3] // the value has the version in it
			}
		case "ping":
			reply = "+PONG\r\n"
		}
		s.mu.Lock()
		s.got = append(s.got, strings.ToLower(strings.Join(command, " ")))
		s.mu.Unlock()
		if _, err := io.WriteString(nc, reply); err != nil {
			return
		}
	}
}

func (s *fake) commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

func read(r *bufio.Reader) ([]string, error) {
	var n int
	if _, err := fmt.Fscanf(r, "*%d\r\n", &n); err != nil {
		return nil, err
	}
	command := make([]string, n)
	for i := range command {
		var size int
		if _, err := fmt.Fscanf(r, "$%d\r\n", &size); err != nil {
			return nil, err
		}
		arg := make([]byte, size+len("\r\n"))
		if _, err := io.ReadFull(r, arg); err != nil {
			return nil, err
		}
		command[i] = string(arg[:size])
	}
	return command, nil
}
