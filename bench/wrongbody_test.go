package bench

import (
	"context"
	"strings"
	"testing"

	"rcbench/adapters"
	"rcbench/adapters/all"
	"rcbench/bench/internal/drive"
	"rcbench/bench/internal/meter"
	"rcbench/bench/internal/param"
	"rcbench/internal/target"
)

// A wrong is a workload that does not do what it claims.
type wrong struct {
	name string
	work func(exchange) exchange // wraps the exchange of Get
	want string                  // in the error of the check; "" for none
}

var wrongs = []wrong{
	{"right", func(e exchange) exchange { return e }, ""},
	{"skips one op in a thousand", func(e exchange) exchange {
		n := 0
		return func(ctx context.Context, c adapters.Client) error {
			if n++; n%1000 == 0 {
				return nil
			}
			return e(ctx, c)
		}
	}, "calls of GET: the server counted 4995, claimed 5000 (-5)"},
	{"sends one too many", func(e exchange) exchange {
		n := 0
		return func(ctx context.Context, c adapters.Client) error {
			if n++; n == 3 {
				if err := e(ctx, c); err != nil {
					return err
				}
			}
			return e(ctx, c)
		}
	}, "calls of GET: the server counted 5001, claimed 5000 (+1)"},
	{"swallows an error reply", func(e exchange) exchange {
		n := 0
		return func(ctx context.Context, c adapters.Client) error {
			if n++; n == 3 {
				c.Do(ctx, "LPOP", "rcbench:64B:1") // WRONGTYPE
			}
			return e(ctx, c)
		}
	}, "error replies: the server counted 1, claimed 0 (+1)"},
}

// TestCountersCatchAWrongWorkload: a check that has never failed proves
// nothing.
func TestCountersCatchAWrongWorkload(t *testing.T) {
	for _, name := range servers(t) {
		s, err := target.Start(t.Context(), target.Options{Target: name})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, w := range wrongs {
			t.Run(name+"/"+w.name, func(t *testing.T) {
				body := get
				body.worker = func(s *session, id int) exchange { return w.work(get.worker(s, id)) }
				err := once(t, s, body, one(t, "resp", param.Own), 5000)
				checkError(t, err, w.want)
			})
		}
	}
}

// reconnecting is a driver whose connection is replaced in mid-run.
type reconnecting struct{ adapters.Driver }

type reconnectingClient struct {
	adapters.Client
	dial func() (adapters.Client, error)
	gets int
}

func (d reconnecting) Dial(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	dial := func() (adapters.Client, error) { return d.Driver.Dial(context.Background(), cfg) }
	c, err := dial()
	return &reconnectingClient{Client: c, dial: dial}, err
}

func (c *reconnectingClient) Get(ctx context.Context, key string) ([]byte, error) {
	if c.gets++; c.gets == 100 {
		c.Client.Close()
		var err error
		if c.Client, err = c.dial(); err != nil {
			return nil, err
		}
	}
	return c.Client.Get(ctx, key)
}

func TestCountersCatchAReconnect(t *testing.T) {
	for _, name := range servers(t) {
		s, err := target.Start(t.Context(), target.Options{Target: name})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		c := one(t, "resp", param.Own)
		c.Driver = reconnecting{c.Driver}
		checkError(t, once(t, s, get, c, 5000), "connections: the server counted 1, claimed 0 (+1)")
	}
}

// one is the case of Get with one worker and loop=1.
func one(t *testing.T, client, conn string) param.Case {
	t.Helper()
	drivers, err := all.Lookup(client)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range get.Cases(flags) {
		if c.Driver.Name() == drivers[0].Name() && c.Conn == conn && c.Loop == 1 {
			c.Goroutines = 1
			return c
		}
	}
	t.Fatalf("no case of %s with conn=%s", client, conn)
	return param.Case{}
}

// once runs n ops of a workload and returns what the check says.
func once(t *testing.T, host *target.Server, w workload, c param.Case, n int64) error {
	t.Helper()
	s := &session{workload: w, Case: c, host: host}
	defer s.close()
	if err := s.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The warm-up has done one op already.
	s.ops[0] = s.op(0, s.worker(s, 0))
	crew := drive.NewCrew(s.ops, drive.Options{})
	defer crew.Stop()
	m, err := meter.Start(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := crew.Turn(n); err != nil {
		t.Fatal(err)
	}
	reading, err := m.Stop(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	claim, _ := s.claim(n)
	return reading.Check(claim)
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error %v, want none", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want one with %q", err, want)
	}
}
