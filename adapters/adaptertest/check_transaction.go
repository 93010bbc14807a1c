package adaptertest

import (
	"context"
	"errors"

	"rcbench/adapters"
)

var transactionChecks = []Check{{
	Name:  "transaction",
	Doc:   "ExecTx sends the commands between one MULTI and one EXEC.",
	Modes: anyMode,
	Run:   checkTransaction,
}, {
	Name:  "transaction step by step",
	Doc:   "MULTI, commands and EXEC through Do use the one connection of Dial.",
	Modes: []Mode{Dial},
	Run:   checkSteps,
}}

func checkTransaction(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	b := c.NewBatch(len(batchCommands))
	for range 2 {
		queueAll(b, e.key("k"))
		sent, err := e.calls(ctx, func() { f.ok("ExecTx", b.ExecTx(ctx)) })
		want := map[string]int64{"multi": 1, "exec": 1}
		for _, command := range batchCommands {
			want[command] = 1
		}
		f.got("ExecTx: commands that reached the server", sent, err, want)
		b.Reset()
	}
	queueAll(b, e.key("k"))
	sent, err := e.calls(ctx, func() { f.ok("Exec", b.Exec(ctx)) })
	want := map[string]int64{}
	for _, command := range batchCommands {
		want[command] = 1
	}
	f.got("Exec: commands that reached the server", sent, err, want)
	return f.err()
}

func checkSteps(ctx context.Context, e *Env) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var f findings
	k := e.key("k")
	for _, step := range []struct {
		want any
		args []string
	}{
		{"OK", []string{"MULTI"}},
		{"QUEUED", []string{"SET", k, "v"}},
		{"QUEUED", []string{"INCR", e.key("n")}},
		{"QUEUED", []string{"GET", k}},
	} {
		got, err := c.Do(ctx, step.args...)
		f.got("Do "+show(step.args), got, err, step.want)
	}
	f.server(ctx, e, nil, "GET", k)
	got, err := c.Do(ctx, "EXEC")
	f.got("Do EXEC", got, err, []any{"OK", int64(1), "v"})
	f.server(ctx, e, "v", "GET", k)

	got, err = c.Do(ctx, "MULTI")
	f.got("Do MULTI", got, err, "OK")
	_, err = c.Do(ctx, "SET", k)
	f.is("Do SET without a value", err, adapters.ErrReply)
	_, err = c.Do(ctx, "EXEC")
	f.is("Do EXEC after an error", err, adapters.ErrReply)

	// A watched key that another connection changed makes EXEC answer nil.
	_, err = c.Do(ctx, "WATCH", k)
	f.store(ctx, e, "SET", k, "changed")
	_, err1 := c.Do(ctx, "MULTI")
	_, err2 := c.Do(ctx, "GET", k)
	f.ok("WATCH, MULTI, GET", errors.Join(err, err1, err2))
	got, err = c.Do(ctx, "EXEC")
	f.is("Do EXEC after a watched key changed", err, adapters.ErrNil)
	f.equal("Do EXEC after a watched key changed", got, nil)
	f.ok("Ping afterwards", c.Ping(ctx))
	return f.err()
}
