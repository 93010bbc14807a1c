package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rcbench/adapters"
	"rcbench/bench/internal/corpus"
	"rcbench/bench/internal/param"
)

// BenchmarkCustom: one op is the command of -cmd, through the client's own
// generic call:
//
//	go test ./bench -bench=Custom -cmd 'ZADD board __rand__ __key__'
//
// In its words __key__ becomes one of the -keyspace keys below rcbench:custom:,
// one after another, __rand__ a random number below -keyspace, and __data__ a
// value of the size that -values says. Any reply but an error will do. On a
// server that is named by a URL the command may touch only keys below rcbench:.
func BenchmarkCustom(b *testing.B) { custom.run(b) }

var custom = workload{
	Family: param.Family{
		Name:       "Custom",
		Conns:      []string{param.Own, param.Shared, param.Pool},
		Nets:       []string{"tcp"},
		Goroutines: studyGoroutines,
		Values:     []param.Size{param.DefaultValue},
		Command:    true,
	},
	claims: func(c param.Case) map[string]int64 {
		return map[string]int64{countedAs(c.Command): 1}
	},
	prepare: func(ctx context.Context, s *session, ops int64) error {
		if s.state != nil || !s.host.Foreign() {
			return nil
		}
		s.state = true
		return mayGuest(ctx, s.host.Control(), newCommand(s, 0).next())
	},
	worker: func(s *session, id int) exchange {
		command := newCommand(s, id)
		return func(ctx context.Context, c adapters.Client) error {
			args := command.next()
			if _, err := c.Do(ctx, args...); err != nil && !errors.Is(err, adapters.ErrNil) {
				return fmt.Errorf("%.100q: %w", strings.Join(args, " "), err)
			}
			return nil
		}
	},
}

// containers are the commands that a server counts with their subcommand.
var containers = []string{"acl", "client", "cluster", "command", "config", "function", "latency", "memory",
	"module", "object", "pubsub", "script", "slowlog", "xgroup", "xinfo"}

// countedAs is the name under which a server counts a command.
func countedAs(words []string) string {
	name := strings.ToLower(words[0])
	if len(words) > 1 && slices.Contains(containers, name) {
		name += "|" + strings.ToLower(words[1])
	}
	return name
}

// A command is the user's, for one worker.
type command struct {
	words    []string
	args     []string // of the latest one
	key      int
	keyspace int
	value    string
	random   *rand.Rand
}

func newCommand(s *session, id int) *command {
	return &command{
		words: s.Command, args: slices.Clone(s.Command),
		key: id * (s.Keyspace/s.Goroutines + 1) % s.Keyspace, keyspace: s.Keyspace,
		value: corpus.Text(int(s.Value)), random: rand.New(rand.NewPCG(7, uint64(id))),
	}
}

// next are the words with the placeholders filled in, valid until the next
// call.
func (c *command) next() []string {
	for i, word := range c.words {
		if !strings.Contains(word, "__") {
			continue
		}
		if strings.Contains(word, "__key__") {
			word = strings.ReplaceAll(word, "__key__", corpus.Prefix+"custom:"+strconv.Itoa(c.key))
			c.key = (c.key + 1) % c.keyspace
		}
		if strings.Contains(word, "__rand__") {
			word = strings.ReplaceAll(word, "__rand__", strconv.Itoa(c.random.IntN(c.keyspace)))
		}
		c.args[i] = strings.ReplaceAll(word, "__data__", c.value)
	}
	return c.args
}

// mayGuest says whether a command may be sent to somebody else's server: if all
// of its keys are the suite's, or if it has none and changes nothing.
func mayGuest(ctx context.Context, c adapters.Client, args []string) error {
	reply, err := c.Do(ctx, append([]string{"COMMAND", "GETKEYS"}, args...)...)
	if keys, ok := reply.([]any); err == nil && ok {
		for _, key := range keys {
			if k, _ := key.(string); !strings.HasPrefix(k, corpus.Prefix) {
				return fmt.Errorf("-cmd: on a server that is not ours, key %.40q must begin with %s, or be __key__", k, corpus.Prefix)
			}
		}
		return nil
	}
	reply, err = c.Do(ctx, "COMMAND", "INFO", args[0])
	if err != nil {
		return fmt.Errorf("-cmd: whether %s may be sent to a server that is not ours is not known: %w", args[0], err)
	}
	if infos, _ := reply.([]any); len(infos) == 1 {
		if info, _ := infos[0].([]any); len(info) > 2 {
			if flags, _ := info[2].([]any); len(flags) > 0 && !slices.ContainsFunc(flags, dangerous) {
				return nil
			}
		}
	}
	return fmt.Errorf("-cmd: %s has no key below %s, and is not sent to a server that is not ours", args[0], corpus.Prefix)
}

// dangerous are the flags of commands that do more than to answer.
func dangerous(flag any) bool {
	name, _ := flag.(string)
	return slices.Contains([]string{"write", "admin", "pubsub", "noscript", "blocking", "movablekeys", "no_mandatory_keys"}, name)
}
