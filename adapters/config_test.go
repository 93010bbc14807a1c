package adapters_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"rcbench/adapters"
)

func TestCheck(t *testing.T) {
	sound := adapters.Config{Network: "tcp", Addr: "127.0.0.1:6379"}
	for _, test := range []struct {
		says   string // of the error; empty for none
		conns  int
		change func(*adapters.Config)
	}{
		{"", 1, func(*adapters.Config) {}},
		{"", 1000, func(c *adapters.Config) {
			*c = adapters.Config{Network: "unix", Addr: "redis.sock", Username: "u", Password: "secret", DB: 15,
				Protocol: 3, Setup: adapters.Lean, Lazy: true, DialTimeout: time.Second, IOTimeout: time.Second}
		}},
		{`network ""`, 1, func(c *adapters.Config) { c.Network = "" }},
		{`network "tls"`, 1, func(c *adapters.Config) { c.Network = "tls" }},
		{"username", 1, func(c *adapters.Config) { c.Username = "u" }},
		{"database -1", 1, func(c *adapters.Config) { c.DB, c.Password = -1, "secret" }},
		{"protocol 1", 1, func(c *adapters.Config) { c.Protocol = 1 }},
		{`setup "fast"`, 1, func(c *adapters.Config) { c.Setup = "fast" }},
		{"dial timeout of -1s", 1, func(c *adapters.Config) { c.DialTimeout = -time.Second }},
		{"I/O timeout of -1s", 1, func(c *adapters.Config) { c.IOTimeout = -time.Second }},
		{"pool of 0", 0, func(*adapters.Config) {}},
		{"pool of -1", -1, func(*adapters.Config) {}},
	} {
		cfg := sound
		test.change(&cfg)
		err := cfg.Check(test.conns)
		if test.says == "" {
			if err != nil {
				t.Errorf("%+v with %d connections: got error %q, want none", cfg, test.conns, err)
			}
			continue
		}
		if !errors.Is(err, adapters.ErrUnsupported) || !strings.HasPrefix(err.Error(), test.says) {
			t.Errorf("%+v with %d connections: got error %v, want one that wraps %q and begins with %q",
				cfg, test.conns, err, adapters.ErrUnsupported, test.says)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows the password: %q", err)
		}
	}
}
