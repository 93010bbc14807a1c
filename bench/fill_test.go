package bench

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"rcbench/adapters"
	"rcbench/bench/internal/corpus"
	"rcbench/bench/internal/param"
)

// One op of the four fills deletes a key and writes so many members to it, in
// one of five ways: the study of hMSet and hSet, and what it wished for.
//
//	variadic   one command with all members
//	pipeline   a command each, in one write
//	loop       a command each, every reply awaited before the next
//	multi      MULTI, a command each, EXEC, every reply awaited: as the study sent it
//	multipipe  the same in one write
//
// The difference between multi and multipipe is what the study's 33 s hid.

func BenchmarkHashFill(b *testing.B) { hashFill.run(b) }
func BenchmarkSetFill(b *testing.B)  { setFill.run(b) }
func BenchmarkZSetFill(b *testing.B) { zsetFill.run(b) }
func BenchmarkListFill(b *testing.B) { listFill.run(b) }

// A fill is how one kind of key is written.
type fill struct {
	name    string
	command string // lower-case

	// all writes members with one command, one writes one, queue queues one,
	// and args are the words of the command that writes one.
	all   func(ctx context.Context, c adapters.Client, key string, m *members) (int64, error)
	one   func(ctx context.Context, c adapters.Client, key, member string, i int) (int64, error)
	queue func(b adapters.Batch, key, member string, i int)
	args  func(key, member string, i int) []string

	// reply is the reply to the command that writes member i alone; one
	// with all members has the reply n.
	reply func(i int) int64
}

// members are what a fill writes, in the forms in which the methods of a
// Client take them.
type members struct {
	names  []string
	fields []string // name, value, name, value, ...
	scored []adapters.Scored
}

func newMembers(n int) *members {
	m := &members{}
	for i := range n {
		name := "member:" + strconv.Itoa(i)
		m.names = append(m.names, name)
		m.fields = append(m.fields, name, name)
		m.scored = append(m.scored, adapters.Scored{Member: name, Score: float64(i)})
	}
	return m
}

func isNew(int) int64 { return 1 }

var (
	hashFill = fill{
		name: "HashFill", command: "hset", reply: isNew,
		all: func(ctx context.Context, c adapters.Client, key string, m *members) (int64, error) {
			return c.HSet(ctx, key, m.fields...)
		},
		one: func(ctx context.Context, c adapters.Client, key, member string, i int) (int64, error) {
			return c.HSet(ctx, key, member, member)
		},
		queue: func(b adapters.Batch, key, member string, i int) { b.HSet(key, member, member) },
		args:  func(key, member string, i int) []string { return []string{"HSET", key, member, member} },
	}.workload(254) // the database of the study

	setFill = fill{
		name: "SetFill", command: "sadd", reply: isNew,
		all: func(ctx context.Context, c adapters.Client, key string, m *members) (int64, error) {
			return c.SAdd(ctx, key, m.names...)
		},
		one: func(ctx context.Context, c adapters.Client, key, member string, i int) (int64, error) {
			return c.SAdd(ctx, key, member)
		},
		queue: func(b adapters.Batch, key, member string, i int) { b.SAdd(key, member) },
		args:  func(key, member string, i int) []string { return []string{"SADD", key, member} },
	}.workload(0)

	zsetFill = fill{
		name: "ZSetFill", command: "zadd", reply: isNew,
		all: func(ctx context.Context, c adapters.Client, key string, m *members) (int64, error) {
			return c.ZAdd(ctx, key, m.scored...)
		},
		one: func(ctx context.Context, c adapters.Client, key, member string, i int) (int64, error) {
			return c.ZAdd(ctx, key, adapters.Scored{Member: member, Score: float64(i)})
		},
		queue: func(b adapters.Batch, key, member string, i int) { b.ZAdd(key, float64(i), member) },
		args: func(key, member string, i int) []string {
			return []string{"ZADD", key, strconv.Itoa(i), member}
		},
	}.workload(0)

	listFill = fill{
		name: "ListFill", command: "rpush", reply: func(i int) int64 { return int64(i) + 1 },
		all: func(ctx context.Context, c adapters.Client, key string, m *members) (int64, error) {
			return c.RPush(ctx, key, m.names...)
		},
		one: func(ctx context.Context, c adapters.Client, key, member string, i int) (int64, error) {
			return c.RPush(ctx, key, member)
		},
		queue: func(b adapters.Batch, key, member string, i int) { b.RPush(key, member) },
		args:  func(key, member string, i int) []string { return []string{"RPUSH", key, member} },
	}.workload(0)
)

// workload makes the benchmark of a fill. Only conn=own, because the steps of
// a transaction must have a connection of their own.
func (f fill) workload(db int) workload {
	key := func(id int) string { return corpus.Prefix + f.name + ":" + strconv.Itoa(id) }
	return workload{
		Family: param.Family{
			Name:       f.name,
			Conns:      []string{param.Own},
			Nets:       []string{"unix", "tcp"},
			Goroutines: []int{1},
			Hows:       []string{param.Variadic, param.Pipeline, param.Loop, param.Multi, param.MultiPipe},
			Members:    []int{1000},
			DB:         db,
		},
		claims: func(c param.Case) map[string]int64 {
			claims := map[string]int64{"del": 1, f.command: int64(c.Members)}
			switch c.How {
			case param.Variadic:
				claims[f.command] = 1
			case param.Multi, param.MultiPipe:
				claims["multi"], claims["exec"] = 1, 1
			}
			return claims
		},
		worker: func(s *session, id int) exchange {
			return f.exchange(s.How, key(id), newMembers(s.Members))
		},
	}
}

func (f fill) exchange(how, key string, m *members) exchange {
	write := map[string]func() exchange{
		param.Variadic:  func() exchange { return f.variadic(key, m) },
		param.Loop:      func() exchange { return f.loop(key, m) },
		param.Multi:     func() exchange { return f.multi(key, m) },
		param.Pipeline:  func() exchange { return f.pipeline(key, m, adapters.Batch.Exec) },
		param.MultiPipe: func() exchange { return f.pipeline(key, m, adapters.Batch.ExecTx) },
	}[how]()
	written := false
	return func(ctx context.Context, c adapters.Client) error {
		n, err := c.Del(ctx, key)
		if err != nil {
			return fmt.Errorf("DEL %s: %w", key, err)
		}
		if written && n != 1 {
			return fmt.Errorf("DEL %s: reply %d, want 1", key, n)
		}
		written = true
		return write(ctx, c)
	}
}

func (f fill) variadic(key string, m *members) exchange {
	return func(ctx context.Context, c adapters.Client) error {
		n, err := f.all(ctx, c, key, m)
		return f.check(key, n, int64(len(m.names)), err)
	}
}

func (f fill) loop(key string, m *members) exchange {
	return func(ctx context.Context, c adapters.Client) error {
		for i, member := range m.names {
			n, err := f.one(ctx, c, key, member, i)
			if err := f.check(key, n, f.reply(i), err); err != nil {
				return err
			}
		}
		return nil
	}
}

func (f fill) pipeline(key string, m *members, exec func(adapters.Batch, context.Context) error) exchange {
	var batch adapters.Batch
	return func(ctx context.Context, c adapters.Client) error {
		if batch == nil {
			batch = c.NewBatch(len(m.names))
		}
		for i, member := range m.names {
			f.queue(batch, key, member, i)
		}
		if err := exec(batch, ctx); err != nil {
			return err
		}
		for i := range m.names {
			n, err := batch.Int(i)
			if err := f.check(key, n, f.reply(i), err); err != nil {
				return err
			}
		}
		batch.Reset()
		return nil
	}
}

// multi sends a transaction step by step. A command of an open transaction is
// answered with QUEUED, which no typed method takes for its reply.
func (f fill) multi(key string, m *members) exchange {
	commands := make([][]string, len(m.names))
	for i, member := range m.names {
		commands[i] = f.args(key, member, i)
	}
	return func(ctx context.Context, c adapters.Client) error {
		if err := status(ctx, c, "OK", "MULTI"); err != nil {
			return err
		}
		for _, args := range commands {
			if err := status(ctx, c, "QUEUED", args...); err != nil {
				return err
			}
		}
		r, err := c.Do(ctx, "EXEC")
		if err != nil {
			return fmt.Errorf("EXEC: %w", err)
		}
		replies, _ := r.([]any)
		if len(replies) != len(commands) {
			return fmt.Errorf("EXEC: %d replies, want %d", len(replies), len(commands))
		}
		for i, reply := range replies {
			n, ok := reply.(int64)
			if !ok {
				return fmt.Errorf("EXEC: reply %d is %v", i, reply)
			}
			if err := f.check(key, n, f.reply(i), nil); err != nil {
				return err
			}
		}
		return nil
	}
}

// status sends a command that is answered with a word.
func status(ctx context.Context, c adapters.Client, want string, args ...string) error {
	r, err := c.Do(ctx, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if r != want {
		return fmt.Errorf("%s: reply %v, want %s", args[0], r, want)
	}
	return nil
}

// check holds a reply against what it should be.
func (f fill) check(key string, n, want int64, err error) error {
	if err != nil {
		return fmt.Errorf("%s %s: %w", f.command, key, err)
	}
	if n != want {
		return fmt.Errorf("%s %s: reply %d, want %d", f.command, key, n, want)
	}
	return nil
}
