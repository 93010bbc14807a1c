package target_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rcbench/adapters"
	"rcbench/internal/target"
)

// guestURL is the URL of a started server.
func guestURL(t *testing.T, s *target.Server, network, user, password string, db int) string {
	t.Helper()
	cfg, err := s.Config(network)
	if err != nil {
		t.Fatal(err)
	}
	u := &url.URL{Scheme: "redis", Host: cfg.Addr}
	switch network {
	case "tls":
		u.Scheme = "rediss"
		u.Host = strings.Replace(cfg.Addr, "127.0.0.1", "localhost", 1)
	case "unix":
		u.Scheme, u.Host, u.Path = "unix", "", cfg.Addr
	}
	if password != "" {
		u.User = url.UserPassword(user, password)
	}
	if network == "unix" {
		u.RawQuery = fmt.Sprintf("db=%d", db)
	} else {
		u.Path = fmt.Sprintf("/%d", db)
	}
	return u.String()
}

func TestGuestRemovesOnlyItsKeys(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := start(t, target.Options{Target: kind, Password: "p@ss/w:rd%", TLS: true})
		ca := filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(ca, []byte(target.CA(s)), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(target.EnvCACert, ca)
		for db, network := range []string{"tcp", "unix", "tls"} {
			t.Run(network, func(t *testing.T) {
				g, err := target.Start(t.Context(), target.Options{Target: guestURL(t, s, network, "default", "p@ss/w:rd%", db)})
				if err != nil {
					t.Fatal(err)
				}
				if !g.Guest() || g.Died() != nil || g.Name() != s.Name() || g.Version() != s.Version() || strings.Contains(g.Describe(), "ss") && network != "tls" {
					t.Errorf("guest %v, %s", g.Guest(), g.Describe())
				}
				for _, other := range []string{"tcp", "unix", "tls"} {
					if _, err := g.Config(other); (err == nil) != (other == network) {
						t.Errorf("Config(%s) of %s: %v", other, network, err)
					} else if err != nil && !strings.Contains(err.Error(), "has no ") {
						t.Error(err)
					}
				}
				counters(t, g)
				c := dial(t, g, network)
				ctx := t.Context()
				var pairs []string
				for i := range 2500 { // more than one round of SCAN
					pairs = append(pairs, fmt.Sprintf("%s%d", target.KeyPrefix, i), "v")
				}
				if err := c.MSet(ctx, append(pairs, "theirs", "v", "rcbench", "v", "x"+target.KeyPrefix, "v")...); err != nil {
					t.Fatal(err)
				}
				if err := g.Close(); err != nil {
					t.Fatal(err)
				}
				reply, err := c.Do(ctx, "KEYS", "*")
				if keys, _ := reply.([]any); len(keys) != 3 || err != nil {
					t.Errorf("%d keys are left, %v, want theirs, rcbench and x%s", len(keys), err, target.KeyPrefix)
				}
			})
		}
	})
}

func TestGuestWithAWrongPassword(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := start(t, target.Options{Target: kind, Password: "geheim"})
		for _, password := range []string{"", "falsch"} {
			_, err := target.Start(t.Context(), target.Options{Target: guestURL(t, s, "tcp", "", password, 0)})
			cfg, _ := s.Config("tcp")
			if err == nil || !strings.Contains(err.Error(), "authentication failed at "+cfg.Addr) || strings.Contains(err.Error(), "falsch") {
				t.Errorf("%q: %v", password, err)
			}
			if !errors.Is(err, adapters.ErrReply) {
				t.Errorf("%v does not wrap the reply", err)
			}
		}
	})
}

func TestGuestVerifiesTheCertificate(t *testing.T) {
	s := start(t, target.Options{Target: "miniredis", TLS: true})
	_, err := target.Start(t.Context(), target.Options{Target: guestURL(t, s, "tls", "", "", 0)})
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown authority gives %v", err)
	}
}

func TestGuestRefusedInfo(t *testing.T) {
	real(t)
	s := start(t, target.Options{Target: "redis-server"})
	if _, err := s.Control().Do(t.Context(), "ACL", "SETUSER", "app", "on", ">geheim", "~*", "+@all", "-info"); err != nil {
		t.Skipf("a server without ACL: %v", err)
	}
	g, err := target.Start(t.Context(), target.Options{Target: guestURL(t, s, "tcp", "app", "geheim", 0)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if g.Version() != "unknown" {
		t.Errorf("version %s", g.Version())
	}
	_, err = g.Counters(t.Context())
	if !errors.Is(err, target.ErrNoCounters) || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("Counters: %v", err)
	}
}

// TestNoRedisServer meets what else may listen at the address of a URL.
func TestNoRedisServer(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	tests := []struct {
		name, addr, want string
	}{
		{"nobody", closed.Addr().String(), "no server reached at "},
		{"http", web.Listener.Addr().String(), "no Redis server at "},
		{"garbage", speaker(t, func(c net.Conn) { c.Write(bytes.Repeat([]byte{0, 1, 2, 3}, 5000)) }), "no Redis server at "},
		{"hangs up", speaker(t, func(net.Conn) {}), "no Redis server at "},
		{"silent", speaker(t, func(c net.Conn) { io.Copy(io.Discard, c) }), "no Redis server at "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			_, err := target.Start(t.Context(), target.Options{Target: "redis://u:geheim@" + test.addr})
			if err == nil || !strings.Contains(err.Error(), test.want+test.addr) || strings.Contains(err.Error(), "geheim") {
				t.Errorf("got %v, want %s%s", err, test.want, test.addr)
			}
			if d := time.Since(begin); d > 10*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

// speaker listens, and lets f talk to each connection before it is closed.
func speaker(t *testing.T, f func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				c.Read(make([]byte, 100))
				f(c)
			}()
		}
	}()
	return l.Addr().String()
}

func TestGuestCancelled(t *testing.T) {
	addr := speaker(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := target.Start(ctx, target.Options{Target: "redis://" + addr}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestNoErrorShowsAPassword gives targets that are wrong, each with the password
// in a place where an error would like to quote it.
func TestNoErrorShowsAPassword(t *testing.T) {
	for _, wrong := range []string{
		"redis://u:geheim%zz@127.0.0.1:1",
		"redis://u:gehe%zzim@127.0.0.1:1",
		"redis://u:geheim/x@127.0.0.1:1",
		"redis://u:1/geheim@127.0.0.1:1",
		"redis://u:1?geheim@127.0.0.1:1",
		"redis://u:1#geheim@127.0.0.1:1",
		"redis://u:geheim@127.0.0.1:port",
		"redis://u:geheim@127.0.0.1:1/geheim",
		"redis://u:geheim@127.0.0.1:1?geheim=1",
		"redis://u:geheim@127.0.0.1:1?db=geheim",
		"redis://u:geheim@127.0.0.1:1/-1",
		"redis://u:geheim@127.0.0.1:1",
		"redis://geheim@127.0.0.1:1",
		"redis://u:geheim@[::1",
		"redis://u:geheim@ 127.0.0.1:1",
		"redis://u:geheim\n@127.0.0.1:1",
		"rediss://u:geheim@127.0.0.1:1",
		"unix://u:geheim@/no/such/socket",
		"unix://u:geheim@host/path",
		"unix://u:geheim@",
		"http://u:geheim@127.0.0.1:1",
		"Redis://u:geheim@127.0.0.1:1",
		"redis:/u:geheim@127.0.0.1:1",
		"redis:u:geheim@127.0.0.1:1",
		"u:geheim@127.0.0.1:1",
	} {
		_, err := target.Start(t.Context(), target.Options{Target: wrong})
		if err == nil || !strings.HasPrefix(err.Error(), "target") {
			t.Errorf("%s: %v", wrong, err)
		} else if strings.Contains(err.Error(), "eheim") || strings.Contains(err.Error(), "gehe") {
			t.Errorf("%s: shows it: %v", wrong, err)
		}
	}
}
