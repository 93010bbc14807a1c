package bench

import (
	"context"
	"fmt"
	"strings"
	"sync"
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

// careless is a driver that leaves out one command in a thousand and makes up
// its reply, or sends one twice.
type careless struct {
	adapters.Driver
	twice bool
}

func (d careless) Dial(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	c, err := d.Driver.Dial(ctx, cfg)
	return &carelessClient{Client: c, twice: d.twice}, err
}

type carelessClient struct {
	adapters.Client
	twice    bool
	commands int
	last     int64
}

// send sends a command, as a rule, and keeps its reply for the case that it is
// to be made up: that of the one before, or of the next number.
func (c *carelessClient) send(do func() (int64, error)) (int64, error) {
	if c.commands++; c.commands == 1000 {
		if !c.twice {
			c.last++
			return c.last, nil
		}
		n, err := do()
		do()
		return n, err
	}
	n, err := do()
	c.last = n
	return n, err
}

func (c *carelessClient) status(do func() error) error {
	_, err := c.send(func() (int64, error) { return 0, do() })
	return err
}

func (c *carelessClient) Ping(ctx context.Context) error {
	return c.status(func() error { return c.Client.Ping(ctx) })
}

func (c *carelessClient) Set(ctx context.Context, key, value string) error {
	return c.status(func() error { return c.Client.Set(ctx, key, value) })
}

func (c *carelessClient) MSet(ctx context.Context, pairs ...string) error {
	return c.status(func() error { return c.Client.MSet(ctx, pairs...) })
}

func (c *carelessClient) Incr(ctx context.Context, key string) (int64, error) {
	return c.send(func() (int64, error) { return c.Client.Incr(ctx, key) })
}

func (c *carelessClient) LPush(ctx context.Context, key string, values ...string) (int64, error) {
	return c.send(func() (int64, error) { return c.Client.LPush(ctx, key, values...) })
}

func (c *carelessClient) RPush(ctx context.Context, key string, values ...string) (int64, error) {
	return c.send(func() (int64, error) { return c.Client.RPush(ctx, key, values...) })
}

func (c *carelessClient) HSet(ctx context.Context, key string, fields ...string) (int64, error) {
	n, err := c.send(func() (int64, error) { return c.Client.HSet(ctx, key, fields...) })
	return min(n, 1), err
}

func (c *carelessClient) SAdd(ctx context.Context, key string, members ...string) (int64, error) {
	n, err := c.send(func() (int64, error) { return c.Client.SAdd(ctx, key, members...) })
	return min(n, 1), err
}

func (c *carelessClient) ZAdd(ctx context.Context, key string, members ...adapters.Scored) (int64, error) {
	n, err := c.send(func() (int64, error) { return c.Client.ZAdd(ctx, key, members...) })
	return min(n, 1), err
}

// TestCountersCatchACarelessClient: in every workload that writes over a
// connection that stays. Where the
// reply to the next command gives it away, that is as good.
func TestCountersCatchACarelessClient(t *testing.T) {
	for _, name := range servers(t) {
		s, err := target.Start(t.Context(), target.Options{Target: name})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, w := range []workload{set, request, setGet, setStrlen, hashFill, setFill, zsetFill, listFill, ping, incr, lpush, rpush, sadd, hset, zadd, mset, mixed} {
			c := w.Cases(parsed(t, "-clients=resp", "-conns=own", "-goroutines=1", "-how=loop", "-keys=10", "-members=10", "-keyspace=10"))[0]
			for _, fault := range []struct {
				driver careless
				want   string
			}{
				{careless{c.Driver, false}, "(-1)"},
				{careless{c.Driver, true}, "(+1)"},
			} {
				t.Run(fmt.Sprintf("%s/%s/twice=%v", name, w.Name, fault.driver.twice), func(t *testing.T) {
					c := c
					c.Driver = fault.driver
					// Enough for a thousand of the command that is sent least.
					least := int64(1500)
					for name, n := range w.claims(c) {
						if name != "del" {
							least = min(least, n)
						}
					}
					ops := 1500/least + 1
					err := once(t, s, w, c, ops)
					if err == nil {
						t.Fatal("no error")
					}
					if text := err.Error(); !strings.Contains(text, fault.want) && !strings.Contains(text, "reply") && !strings.Contains(text, "before") && !strings.Contains(text, "want") {
						t.Errorf("error %v, want one with %q or of a reply", err, fault.want)
					}
				})
			}
		}
	}
}

func TestPopsThatLeaveSomethingAreFound(t *testing.T) {
	s, err := target.Start(t.Context(), target.Options{Target: servers(t)[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, w := range []workload{lpop, rpop, spop, zpopmin} {
		t.Run(w.Name, func(t *testing.T) {
			c := &session{workload: w, Case: w.Cases(parsed(t, "-clients=resp", "-goroutines=1"))[0], host: s}
			defer c.close()
			if err := c.open(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := c.prepared(t.Context(), 3); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := c.ops[0](); err != nil {
					t.Fatal(err)
				}
			}
			checkError(t, c.prepared(t.Context(), 0), "still has elements")
		})
	}
}

// TestCounterOfAStorm: slow, failed and lost are told apart.
func TestCounterOfAStorm(t *testing.T) {
	for _, tt := range []struct {
		acknowledged, failed, present int64
		want                          string
	}{
		{1000, 0, 1000, ""},
		{900, 100, 900, ""},
		{900, 100, 950, ""}, // executed, and the reply was lost
		{900, 100, 1000, ""},
		{0, 1000, 0, ""},
		{1000, 0, 999, "1000 acknowledged, 0 failed, 999 present: 1 lost"},
		{900, 100, 1001, "900 acknowledged, 100 failed, 1001 present: 1 too many"},
	} {
		checkError(t, addsUp(tt.acknowledged, tt.failed, tt.present), tt.want)
	}
}

// TestStormFindsAnIncrementOfAnother: the counter is the storm's own.
func TestStormFindsAnIncrementOfAnother(t *testing.T) {
	s, err := target.Start(t.Context(), target.Options{Target: servers(t)[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := &session{workload: connectStorm, host: s, Case: connectStorm.Cases(parsed(t, "-clients=resp", "-procs=2", "-goroutines=1", "-connects=200"))[0]}
	defer c.close()
	if err := c.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.ops[0](); err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Config("unix")
	if err != nil {
		t.Fatal(err)
	}
	other, err := c.Driver.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var stray sync.WaitGroup
	stray.Go(func() {
		// Not before the storm has taken its key away and begun anew.
		for t.Context().Err() == nil {
			n, err := other.Strlen(t.Context(), c.crowd.storm.Key)
			if v, _ := other.Get(t.Context(), c.crowd.storm.Key); err != nil || n > 0 && string(v) != "400" {
				break
			}
		}
		other.Incr(t.Context(), c.crowd.storm.Key)
	})
	checkError(t, c.ops[0](), "400 acknowledged, 0 failed, 401 present: 1 too many")
	stray.Wait()
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
	if err := s.prepared(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	crew := drive.NewCrew(s.ops, drive.Options{})
	defer crew.Stop()
	m, err := meter.Start(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := crew.Turn(n); err != nil {
		return err
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
