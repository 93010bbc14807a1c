package target_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"rcbench/internal/target"
)

func TestCountersWithoutTheReading(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := start(t, target.Options{Target: kind})
		before := counters(t, s)
		// The connection by which the start was awaited is closed already, but
		// the server may learn of it a little later.
		for deadline := time.Now().Add(5 * time.Second); before.Clients != 1 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
			before = counters(t, s)
		}
		for range 3 {
			after := counters(t, s)
			d := after.Since(before)
			before = after
			cpu := d.CPU
			d.CPU = 0
			if got := summary(d); got != "calls map[] failed map[] codes map[] commands 0 connections 0 refused 0 errors 0 reads 0 in 0 out 0" || cpu < 0 {
				t.Errorf("nothing cost %s, cpu %v", got, cpu)
			}
			if d.Clients != 1 {
				t.Errorf("%d clients, want the control connection", d.Clients)
			}
		}
	})
}

func summary(c target.Counters) string {
	return fmt.Sprintf("calls %v failed %v codes %v commands %d connections %d refused %d errors %d reads %d in %d out %d",
		c.Calls, c.Failed, c.ErrorCodes, c.Commands, c.Connections, c.Refused, c.Errors, c.Reads, c.InBytes, c.OutBytes)
}

// scripts are commands that miniredis must count as Redis does. An unknown
// command in a transaction is not among them, because miniredis does not do as
// Redis does: it executes the rest where Redis answers EXECABORT.
var scripts = []struct {
	name     string
	commands string
	// bytes is whether the replies are the same too, and not only their kind.
	bytes bool
}{
	{"plain", "SET k v|GET k|GET missing|INCR n|LPUSH l a b c|LRANGE l 0 -1", true},
	{"case", "get k|GeT k|get k", true},
	{"wrong type", "SET k v|LPUSH k a|INCR k|GET k", false},
	{"unknown command", "NOSUCH a b|GET k|NOSUCH", false},
	{"arity", "GET|GET a b|SET k|PING", false},
	{"subcommands", "CLIENT SETNAME x|CLIENT GETNAME|OBJECT IDLETIME missing|CLIENT NOSUCH", false},
	{"unknown subcommand", "CLIENT NOSUCH a|PING", false},
	{"transaction", "MULTI|SET k v|GET k|INCR n|EXEC|GET k", true},
	{"transaction with a failing command", "SET k v|MULTI|INCR n|LPUSH k a|GET k|EXEC", false},
	{"discard", "MULTI|SET k v|DISCARD|GET k", true},
	{"arity in a transaction", "MULTI|GET|SET k v|EXEC|GET k", false},
	{"empty transaction", "MULTI|EXEC|EXEC", false},
	{"nested transaction", "MULTI|MULTI|SET k v|EXEC", false},
	{"watch", "WATCH k|SET k v|MULTI|SET k w|EXEC|GET k", true},
	{"reading in a transaction", "MULTI|PING|EXEC", true},
	{"password nobody asked for", "AUTH x|PING", false},
	{"hello", "HELLO 3|SET k v|GET missing|HELLO 2", false},
	{"select", "SELECT 200|SET k v|SELECT 0|GET k", true},
	{"error reply of a script", "EVAL 1 0|PING", false},
}

func TestMiniredisCountsLikeRedis(t *testing.T) {
	real(t)
	servers := map[string]*target.Server{}
	for _, kind := range kinds(t) {
		servers[kind] = start(t, target.Options{Target: kind})
	}
	for _, script := range scripts {
		t.Run(script.name, func(t *testing.T) {
			got := map[string]string{}
			for kind, s := range servers {
				if _, err := s.Control().Do(t.Context(), "FLUSHALL"); err != nil {
					t.Fatal(err)
				}
				before := counters(t, s)
				c := dial(t, s, "tcp")
				for _, line := range strings.Split(script.commands, "|") {
					c.Do(t.Context(), strings.Fields(line)...)
				}
				d := counters(t, s).Since(before)
				if !script.bytes {
					d.OutBytes = 0
				}
				got[kind] = summary(d)
				c.Close()
				eventually(t, 10*time.Second, "the connection's end", func() bool { return counters(t, s).Clients == 1 })
			}
			if got["miniredis"] != got["redis-server"] {
				t.Errorf("%s\nmini  %s\nredis %s", script.commands, got["miniredis"], got["redis-server"])
			}
		})
	}
}

func TestCountersUnderConcurrency(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := start(t, target.Options{Target: kind})
		before := counters(t, s)
		const workers, ops = 20, 50
		var wg sync.WaitGroup
		for range workers {
			c := dial(t, s, "tcp")
			wg.Go(func() {
				b := c.NewBatch(2)
				for range ops {
					b.Reset()
					b.Incr("rcbench:n")
					b.RPush("rcbench:n", "x") // of the wrong type
					b.ExecTx(context.Background())
				}
			})
		}
		wg.Wait()
		d := counters(t, s).Since(before)
		const n = workers * ops
		want := target.Counters{
			Calls:      map[string]int64{"multi": n, "incr": n, "rpush": n, "exec": n},
			Failed:     map[string]int64{"rpush": n},
			ErrorCodes: map[string]int64{"WRONGTYPE": n},
		}
		if !reflect.DeepEqual(d.Calls, want.Calls) || !reflect.DeepEqual(d.Failed, want.Failed) || !reflect.DeepEqual(d.ErrorCodes, want.ErrorCodes) {
			t.Errorf("got %s", summary(d))
		}
		if d.Commands != 4*n || d.Connections != workers || d.Clients != workers+1 || d.Errors != n {
			t.Errorf("got %s, clients %d", summary(d), d.Clients)
		}
	})
}
