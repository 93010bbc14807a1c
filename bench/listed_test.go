package bench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rcbench/adapters"
	"rcbench/bench/internal/corpus"
	"rcbench/bench/internal/param"
)

// The list of the program redis-benchmark, as it is by default: one command an
// op, 50 connections, values of three bytes. Its SET and GET are
//
//	-bench='^Benchmark(Set|Get)$' -conns=own -goroutines=50 -loops=1 -values=3B
//
// Two things differ. A reply is checked, so pops find something to pop: as many
// elements as there are ops are put there before each run, outside of what is
// measured, and none may be left. And each connection pushes to a list of its
// own, whose length it can tell.

func BenchmarkPing(b *testing.B)    { ping.run(b) }
func BenchmarkIncr(b *testing.B)    { incr.run(b) }
func BenchmarkLPush(b *testing.B)   { lpush.run(b) }
func BenchmarkRPush(b *testing.B)   { rpush.run(b) }
func BenchmarkLPop(b *testing.B)    { lpop.run(b) }
func BenchmarkRPop(b *testing.B)    { rpop.run(b) }
func BenchmarkSAdd(b *testing.B)    { sadd.run(b) }
func BenchmarkHSet(b *testing.B)    { hset.run(b) }
func BenchmarkSPop(b *testing.B)    { spop.run(b) }
func BenchmarkZAdd(b *testing.B)    { zadd.run(b) }
func BenchmarkZPopMin(b *testing.B) { zpopmin.run(b) }
func BenchmarkLRange(b *testing.B)  { lrange.run(b) }
func BenchmarkMSet(b *testing.B)    { mset.run(b) }

// listed is a workload of the list: a command, with values of three bytes if it
// has any.
func listed(name string, values []param.Size, w workload) workload {
	w.Family = param.Family{
		Name: name, Conns: []string{param.Own}, Nets: []string{"tcp"}, Goroutines: []int{50},
		Values: values, Keys: w.Keys, Members: w.Members,
	}
	w.claims = func(param.Case) map[string]int64 { return map[string]int64{strings.ToLower(name): 1} }
	return w
}

var (
	small    = []param.Size{3}
	noValues []param.Size
)

// element is the member that redis-benchmark writes again and again.
const (
	elementName = "element:"
	element     = elementName + "000000000000"
)

func listedKey(name string) string { return corpus.Prefix + "listed:" + name }

var ping = listed("Ping", noValues, workload{
	worker: func(*session, int) exchange {
		return func(ctx context.Context, c adapters.Client) error { return c.Ping(ctx) }
	},
})

var incr = listed("Incr", noValues, workload{
	worker: func(*session, int) exchange { return increase(listedKey("incr")) },
})

// increase increments a counter that others increment too.
func increase(key string) exchange {
	last := int64(0)
	return func(ctx context.Context, c adapters.Client) error {
		n, err := c.Incr(ctx, key)
		if err != nil {
			return fmt.Errorf("INCR %s: %w", key, err)
		}
		if n <= last {
			return fmt.Errorf("INCR %s: %d, after %d before", key, n, last)
		}
		last = n
		return nil
	}
}

var (
	lpush = listed("LPush", small, push("lpush", adapters.Client.LPush))
	rpush = listed("RPush", small, push("rpush", adapters.Client.RPush))
)

type pushing = func(c adapters.Client, ctx context.Context, key string, values ...string) (int64, error)

// push pushes to a list for each worker, which is empty when a run begins.
func push(name string, do pushing) workload {
	key := func(id int) string { return listedKey(name) + ":" + strconv.Itoa(id) }
	return workload{
		prepare: func(ctx context.Context, s *session, ops int64) error {
			runs, _ := s.state.(int)
			s.state = runs + 1
			keys := make([]string, s.Goroutines)
			for id := range keys {
				keys[id] = key(id)
			}
			_, err := s.control.Del(ctx, keys...)
			return err
		},
		worker: func(s *session, id int) exchange {
			key, value := key(id), corpus.Text(int(s.Value))
			run, length := 0, int64(0)
			return func(ctx context.Context, c adapters.Client) error {
				if now := s.state.(int); now != run {
					run, length = now, 0
				}
				length++
				return reply(name, key, length)(do(c, ctx, key, value))
			}
		},
	}
}

// reply checks a number that a command returned.
func reply(command, key string, want int64) func(int64, error) error {
	return func(n int64, err error) error {
		if err != nil {
			return fmt.Errorf("%s %s: %w", command, key, err)
		}
		if n != want {
			return fmt.Errorf("%s %s: reply %d, want %d", command, key, n, want)
		}
		return nil
	}
}

// The commands that write what is there already: their reply is 0.
var (
	sadd = listed("SAdd", noValues, again("sadd", func(ctx context.Context, c adapters.Client, key, _ string) (int64, error) {
		return c.SAdd(ctx, key, element)
	}))
	hset = listed("HSet", small, again("hset", func(ctx context.Context, c adapters.Client, key, value string) (int64, error) {
		return c.HSet(ctx, key, element, value)
	}))
	zadd = listed("ZAdd", noValues, again("zadd", func(ctx context.Context, c adapters.Client, key, _ string) (int64, error) {
		return c.ZAdd(ctx, key, adapters.Scored{Member: element})
	}))
)

func again(name string, do func(ctx context.Context, c adapters.Client, key, value string) (int64, error)) workload {
	key := listedKey(name)
	return workload{
		prepare: func(ctx context.Context, s *session, ops int64) error {
			_, err := do(ctx, s.control, key, "")
			return err
		},
		worker: func(s *session, id int) exchange {
			value, check := corpus.Text(int(s.Value)), reply(name, key, 0)
			return func(ctx context.Context, c adapters.Client) error { return check(do(ctx, c, key, value)) }
		},
	}
}

var (
	lpop = listed("LPop", small, pops("lpop", pushValues, func(ctx context.Context, c adapters.Client, key, value string) error {
		v, err := c.LPop(ctx, key)
		return popped(string(v) == value, v, err)
	}))
	rpop = listed("RPop", small, pops("rpop", pushValues, func(ctx context.Context, c adapters.Client, key, value string) error {
		v, err := c.RPop(ctx, key)
		return popped(string(v) == value, v, err)
	}))
	spop = listed("SPop", noValues, pops("spop", addMembers, func(ctx context.Context, c adapters.Client, key, _ string) error {
		v, err := c.SPop(ctx, key)
		return popped(len(v) == len(element) && string(v[:len(elementName)]) == elementName, v, err)
	}))
	zpopmin = listed("ZPopMin", noValues, pops("zpopmin", addScored, func(ctx context.Context, c adapters.Client, key, _ string) error {
		v, err := c.ZPopMin(ctx, key)
		digits, ok := strings.CutPrefix(v.Member, elementName)
		n, notNumber := strconv.Atoi(digits)
		return popped(ok && notNumber == nil && float64(n) == v.Score, v, err)
	}))
)

// A filling puts the elements from, from+1, ... to-1 of a run into a key. The
// value of a list's element is given.
type filling func(ctx context.Context, c adapters.Client, key, value string, from, to int) error

func pushValues(ctx context.Context, c adapters.Client, key, value string, from, to int) error {
	_, err := c.RPush(ctx, key, slices.Repeat([]string{value}, to-from)...)
	return err
}

func addMembers(ctx context.Context, c adapters.Client, key, _ string, from, to int) error {
	members := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		members = append(members, numbered(i))
	}
	_, err := c.SAdd(ctx, key, members...)
	return err
}

func addScored(ctx context.Context, c adapters.Client, key, _ string, from, to int) error {
	members := make([]adapters.Scored, 0, to-from)
	for i := from; i < to; i++ {
		members = append(members, adapters.Scored{Member: numbered(i), Score: float64(i)})
	}
	_, err := c.ZAdd(ctx, key, members...)
	return err
}

// numbered is a member as redis-benchmark names them.
func numbered(i int) string { return fmt.Sprintf(elementName+"%012d", i) }

// popped is the error of a pop.
func popped[T any](right bool, v T, err error) error {
	if err == nil && !right {
		err = fmt.Errorf("unexpected element %.30q", fmt.Sprint(v))
	}
	return err
}

// chunk is how many elements of a size go into one command, of a megabyte at
// the most.
func chunk(size param.Size) int { return int(max(1, min(1000, 1<<20/max(size, 1)))) }

// mostPrepared bounds the bytes that are put on the server before a run.
const mostPrepared = 1 << 30

// perElement is about what a server needs for an element beside its value.
const perElement = 64

// pops takes one element an op out of a key that all workers share.
func pops(name string, fill filling, pop func(ctx context.Context, c adapters.Client, key, value string) error) workload {
	// The arms of a comparison do not pop what another has left.
	key := listedKey(name) + ":" + strconv.Itoa(os.Getpid())
	return workload{
		prepare: func(ctx context.Context, s *session, ops int64) error {
			left, err := s.control.Del(ctx, key)
			if err != nil {
				return err
			}
			if s.state != nil && left != 0 {
				return fmt.Errorf("%s: %s still has elements, though all of them were popped", name, key)
			}
			s.state = ops
			if bytes := ops * int64(s.Value+perElement); bytes > mostPrepared {
				return fmt.Errorf("%s: %d elements of %v, and %d B around each, are more than the %v that are put on the server; lower -benchtime", name, ops, s.Value, perElement, param.Size(mostPrepared))
			}
			value := corpus.Text(int(s.Value))
			for from, n := 0, chunk(s.Value); from < int(ops); from += n {
				if err := fill(ctx, s.control, key, value, from, min(from+n, int(ops))); err != nil {
					return fmt.Errorf("filling %s: %w", key, err)
				}
			}
			return nil
		},
		worker: func(s *session, id int) exchange {
			value := corpus.Text(int(s.Value))
			return func(ctx context.Context, c adapters.Client) error {
				if err := pop(ctx, c, key, value); err != nil {
					return fmt.Errorf("%s %s: %w", name, key, err)
				}
				return nil
			}
		},
	}
}

var lrange = listed("LRange", small, workload{
	Family: param.Family{Members: []int{100, 300, 500, 600}},
	prepare: func(ctx context.Context, s *session, ops int64) error {
		c, key, value := s.control, lrangeKey(s), corpus.Text(int(s.Value))
		if s.state != nil {
			return nil // it only reads
		}
		s.state = true
		if _, err := c.Del(ctx, key); err != nil {
			return err
		}
		for from, n := 0, chunk(s.Value); from < s.Members; from += n {
			if err := pushValues(ctx, c, key, value, from, min(from+n, s.Members)); err != nil {
				return err
			}
		}
		return nil
	},
	worker: func(s *session, id int) exchange {
		key, value := lrangeKey(s), corpus.Text(int(s.Value))
		return func(ctx context.Context, c adapters.Client) error {
			list, err := c.LRange(ctx, key, 0, int64(s.Members)-1)
			if err != nil {
				return fmt.Errorf("LRANGE %s: %w", key, err)
			}
			if len(list) != s.Members {
				return fmt.Errorf("LRANGE %s: %d elements, want %d", key, len(list), s.Members)
			}
			for i, v := range list {
				if v != value {
					return fmt.Errorf("LRANGE %s: element %d is %.20q, want %.20q", key, i, v, value)
				}
			}
			return nil
		}
	},
})

// lrangeKey is a list that has exactly the elements that are asked for.
func lrangeKey(s *session) string {
	return fmt.Sprintf("%s:%v:%d", listedKey("lrange"), s.Value, s.Members)
}

var mset = listed("MSet", small, workload{
	Family: param.Family{Keys: []int{10}},
	worker: func(s *session, id int) exchange {
		pairs := make([]string, 0, 2*s.Keys)
		value := corpus.Text(int(s.Value))
		for i := range s.Keys {
			pairs = append(pairs, listedKey("mset:")+strconv.Itoa(i), value)
		}
		return func(ctx context.Context, c adapters.Client) error {
			if err := c.MSet(ctx, pairs...); err != nil {
				return fmt.Errorf("MSET of %d keys: %w", s.Keys, err)
			}
			return nil
		}
	},
})
