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
	"rcbench/internal/target"
)

// BenchmarkCustom: one op is the command of -cmd, through the client's own
// generic call:
//
//	go test ./bench -bench=Custom -cmd 'ZADD board __rand__ __key__'
//
// In its words __key__ becomes one of the -keyspace keys below rcbench:custom:,
// one after another (a worker walks through 4,096 of them), __rand__ a random number below -keyspace, and __data__ a
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
		Keyspaces:  []int{param.DefaultKeyspace},
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
		return mayGuest(ctx, s.control, newCommand(s, 0).next())
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

// countedAs is the name under which a server counts a command.
func countedAs(words []string) string {
	name := strings.ToLower(words[0])
	if len(words) > 1 && slices.Contains(target.Containers, name) {
		name += "|" + strings.ToLower(words[1])
	}
	return name
}

// expansions is how many keys and numbers are made before the run, so that
// making them is not part of it.
const expansions = 1 << 12

// A command is the user's, for one worker.
type command struct {
	words   []string
	args    []string // of the latest one
	keys    []string
	numbers []string
	at      int
	value   string
}

func newCommand(s *session, id int) *command {
	c := &command{words: s.Command, args: slices.Clone(s.Command), value: corpus.Text(int(s.Value))}
	random := rand.New(rand.NewPCG(7, uint64(id)))
	first := id * (s.Keyspace/s.Goroutines + 1)
	for i := range max(1, min(s.Keyspace, expansions)) {
		c.keys = append(c.keys, corpus.Prefix+"custom:"+strconv.Itoa((first+i)%s.Keyspace))
	}
	for range expansions {
		c.numbers = append(c.numbers, strconv.Itoa(random.IntN(s.Keyspace)))
	}
	return c
}

// next are the words with the placeholders filled in, valid until the next
// call. A word that is nothing but a placeholder costs no allocation.
func (c *command) next() []string {
	key, number := c.keys[c.at%len(c.keys)], c.numbers[c.at%len(c.numbers)]
	c.at++
	for i, word := range c.words {
		switch {
		case word == "__key__":
			c.args[i] = key
		case word == "__rand__":
			c.args[i] = number
		case word == "__data__":
			c.args[i] = c.value
		case strings.Contains(word, "__"):
			c.args[i] = strings.NewReplacer("__key__", key, "__rand__", number, "__data__", c.value).Replace(word)
		}
	}
	return c.args
}

// mayGuest says whether a command may be sent to somebody else's server: if all
// of its keys are the suite's, or if it has none and changes nothing, and if it
// does nothing that its keys do not tell.
func mayGuest(ctx context.Context, c adapters.Client, args []string) error {
	refuse := func(format string, more ...any) error {
		return fmt.Errorf("-cmd: on a server that is not ours, "+format, more...)
	}
	flags, err := commandFlags(ctx, c, countedAs(args))
	if err != nil {
		return refuse("%s is not sent, because what it does is not known: %w", args[0], err)
	}
	if i := slices.IndexFunc(flags, dangerous); i >= 0 || slices.Contains(reaching, strings.ToLower(args[0])) {
		return refuse("%s is not sent: it may reach more than its keys", args[0])
	}
	reply, _ := c.Do(ctx, append([]string{"COMMAND", "GETKEYS"}, args...)...) // an error is "no keys"
	keys, _ := reply.([]any)
	for _, key := range keys {
		if k, _ := key.(string); !strings.HasPrefix(k, corpus.Prefix) {
			return refuse("key %.40q must begin with %s, or be __key__", k, corpus.Prefix)
		}
	}
	if len(keys) == 0 && slices.Contains(flags, "write") {
		return refuse("%s is not sent: it writes, and has no key below %s", args[0], corpus.Prefix)
	}
	return nil
}

// commandFlags are the flags that a server gives a command.
func commandFlags(ctx context.Context, c adapters.Client, name string) ([]string, error) {
	reply, err := c.Do(ctx, "COMMAND", "INFO", name)
	if err != nil {
		return nil, err
	}
	infos, _ := reply.([]any)
	if len(infos) != 1 {
		return nil, adapters.Unexpected("COMMAND INFO", reply, "one command")
	}
	info, _ := infos[0].([]any)
	if len(info) < 3 {
		return nil, fmt.Errorf("the server has no command %s", name)
	}
	list, _ := info[2].([]any)
	var flags []string
	for _, f := range list {
		flag, _ := f.(string)
		flags = append(flags, flag)
	}
	return flags, nil
}

// reaching are commands that write where their keys do not say.
var reaching = []string{"migrate", "copy", "move"}

// dangerous are the flags of commands that do more than they say: scripts and
// functions are noscript themselves.
func dangerous(flag string) bool {
	return slices.Contains([]string{"admin", "pubsub", "noscript", "blocking"}, flag)
}
