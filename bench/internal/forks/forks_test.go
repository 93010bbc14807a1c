package forks_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rcbench/bench/internal/forks"
	"rcbench/bench/internal/meter"
	"rcbench/bench/internal/turns"
	"rcbench/internal/target"
)

// journalEnv is the environment variable that makes this binary an arm. It
// names the file in which all arms of a test write down what they do: they act
// one at a time, so the lines of all of them are in the order of time.
const journalEnv = "RCBENCH_FORKS_TEST_JOURNAL"

func TestMain(m *testing.M) {
	if path := os.Getenv(journalEnv); path != "" {
		if err := serve(path, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A script is how an arm behaves. It claims times rather than taking them, so
// that what follows from them is exact.
type script struct {
	Name    string
	PerOp   time.Duration // claimed for each op
	Drift   bool          // the turns after the third are twice as long
	Workers int           // 0 is 1
	Conns   int64         // connections that each op opens
	Errors  int64         // error replies that each op is known to have
	Version int           // of the protocol; 0 is the right one

	Prepares int64 // commands that preparing a turn costs; with 0 it wants none
	Deaf     bool  // does not end with its input
	Faults   []fault
}

// A fault is one thing that goes wrong.
type fault struct {
	Fork int
	Case string // prefix of the case
	Turn int    // counted from 1 within the case, calibration included; 0 is the open, -1 the list
	What string
}

// An event is a line of the journal.
type event struct {
	Arm        string
	PID, Group int
	Do         string // start, open, turn, close
	Case       string
	Ops        int64
	// What the server counts because of it.
	Gets, Failed, Conns, Errors int64
}

// An arm is the handler of a process that follows a script.
type arm struct {
	script
	fork    int
	journal *os.File
	name    string // of the open case
	turns   int
}

var _ turns.Handler = (*arm)(nil)

func serve(path string, args []string) error {
	fs := flag.NewFlagSet("arm", flag.ContinueOnError)
	asked := fs.Bool(turns.Flag, false, "")
	text := fs.String("script", "", "")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if !*asked {
		return fmt.Errorf("started without -%s", turns.Flag)
	}
	a := &arm{}
	if err := json.Unmarshal([]byte(*text), &a.script); err != nil {
		return err
	}
	for _, e := range readJournal(path) {
		if e.Arm == a.Name && e.Do == "start" {
			a.fork++
		}
	}
	var err error
	if a.journal, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666); err != nil {
		return err
	}
	a.note(event{Do: "start"})
	fmt.Fprintf(os.Stderr, "%s is there\n", a.Name)
	err = turns.Serve(a, os.Stdin, os.Stdout)
	if a.Deaf {
		time.Sleep(time.Hour)
	}
	return err
}

func (a *arm) Prepare(ops int64) error {
	a.note(event{Do: "prepare", Ops: ops, Gets: a.Prepares})
	return nil
}

func (a *arm) note(e event) {
	e.Arm, e.Case, e.PID, e.Group = a.Name, a.name, os.Getpid(), syscall.Getpgrp()
	line, err := json.Marshal(e)
	if err == nil {
		_, err = a.journal.Write(append(line, '\n'))
	}
	if err != nil {
		panic(err)
	}
}

// fault is what goes wrong now, or "". What ends or blocks the process does so
// here.
func (a *arm) fault() string {
	for _, f := range a.Faults {
		if f.Fork != a.fork || f.Turn != a.turns || !strings.HasPrefix(a.name, f.Case) {
			continue
		}
		switch f.What {
		case "crash":
			a.note(event{Do: "crash", Gets: 7, Conns: 1}) // it got so far
			fmt.Fprintf(os.Stderr, "%s: boom\n", a.Name)
			os.Exit(3)
		case "quit":
			os.Exit(0)
		case "hang":
			a.note(event{Do: "hang"})
			time.Sleep(time.Hour)
		case "garbage":
			fmt.Println("--- FAIL: something printed this")
		case "empty":
			fmt.Println("{}") // an answer to nothing
		}
		return f.What
	}
	return ""
}

func (a *arm) List() (*turns.List, error) {
	a.turns = -1
	if a.fault() == "error" {
		return nil, errors.New("no list today")
	}
	l := &turns.List{Version: turns.Version, Procs: 2, Clients: []turns.Client{{Name: a.Name, Version: "v1"}}}
	if a.Version != 0 {
		l.Version = a.Version
	}
	return l, nil
}

func (a *arm) Open(name string) (*turns.Opened, error) {
	if a.name != "" {
		return nil, fmt.Errorf("%s is open", a.name)
	}
	a.name, a.turns = name, 0
	what := a.fault()
	if what == "error" || what == "skip" {
		a.name = ""
	}
	switch what {
	case "error":
		return nil, errors.New("dial 127.0.0.1:1: refused")
	case "skip":
		return &turns.Opened{Skip: "not supported by this server"}, nil
	}
	workers := max(1, a.Workers)
	a.note(event{Do: "open", Gets: int64(workers), Conns: 1}) // the warm-up
	claim := turns.Claim{Commands: map[string]int64{"get": 2}, Conns: a.Conns, Errors: a.Errors}
	return &turns.Opened{Claim: claim, Workers: workers, Prepares: a.Prepares > 0}, nil
}

func (a *arm) Turn(ops int64) (*turns.Outcome, error) {
	a.turns++
	e := event{Do: "turn", Ops: ops, Gets: 2 * ops, Conns: a.Conns * ops, Errors: a.Errors * ops}
	switch a.fault() {
	case "error":
		return nil, errors.New("GET x: connection reset")
	case "skips a command":
		e.Gets--
	case "connects":
		e.Conns++
	case "has an error reply":
		e.Errors++
	case "has a failed call":
		e.Failed++
	}
	a.note(e)
	perOp := a.PerOp
	if a.Drift && a.turns > 3 {
		perOp *= 2
	}
	return &turns.Outcome{Elapsed: time.Duration(ops) * perOp, CPU: time.Duration(ops) * time.Microsecond,
		Bytes: 100 * ops, Mallocs: 3 * ops, Idle: 0.25}, nil
}

func (a *arm) Close() error {
	if a.name != "" {
		a.note(event{Do: "close"})
	}
	a.name = ""
	return nil
}

// readJournal returns the lines that are complete.
func readJournal(path string) (events []event) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		panic(err)
	}
	for line := range bytes.Lines(text) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			panic(fmt.Sprintf("%s: %v in %q", path, err, line))
		}
		events = append(events, e)
	}
	return events
}

// A server counts what the journal says that the arms did, and, as a real one
// does, the readings before this one.
type server struct {
	file     *bufio.Reader
	now      target.Counters
	readings int
	hook     func(reading int) error // called before each reading, from 1
}

var _ meter.Source = (*server)(nil)

func (s *server) Counters(ctx context.Context) (target.Counters, error) {
	if err := ctx.Err(); err != nil {
		return target.Counters{}, err
	}
	s.readings++
	if s.hook != nil {
		if err := s.hook(s.readings); err != nil {
			return target.Counters{}, err
		}
	}
	for {
		line, err := s.file.ReadBytes('\n')
		if err == io.EOF {
			break
		} else if err != nil {
			return target.Counters{}, err
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return target.Counters{}, err
		}
		s.now.Commands += e.Gets
		s.now.Connections += e.Conns
		s.now.Errors += e.Errors
		s.now.CPU += time.Duration(e.Gets) * 500
		s.now.Calls = plus(s.now.Calls, "get", e.Gets)
		s.now.Failed = plus(s.now.Failed, "get", e.Failed)
	}
	now := s.now
	now.Commands += int64(s.readings - 1)
	now.Calls = plus(now.Calls, "info", int64(s.readings-1))
	return now, nil
}

// plus is a copy of counts with n more of name.
func plus(counts map[string]int64, name string, n int64) map[string]int64 {
	more := map[string]int64{name: n}
	for k, v := range counts {
		more[k] += v
	}
	return more
}

// A rig is a plan with arms that follow scripts, and their server.
type rig struct {
	forks.Plan
	t       *testing.T
	journal string
	server  *server
}

// oneRound is a budget that is over at once: each comparison then has the one
// round that it always has, and a run is the same whatever the machine does.
const oneRound = time.Nanosecond

// newRig makes a plan of one fork and one round for each of the comparisons, in
// which all arms take part.
func newRig(t *testing.T, comparisons []string, scripts ...script) *rig {
	journal := filepath.Join(t.TempDir(), "journal")
	file, err := os.OpenFile(journal, os.O_RDONLY|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, journal: journal, server: &server{file: bufio.NewReader(file)}}
	r.Plan = forks.Plan{Forks: 1, Budget: oneRound, Seed: 1, Server: r.server, Env: []string{
		journalEnv + "=" + journal,
		"GORACE=atexit_sleep_ms=0", // with -race, a process would take a second to end
	}}
	for _, s := range scripts {
		r.Arms = append(r.Arms, newArm(t, s))
	}
	for _, name := range comparisons {
		c := forks.Comparison{Name: name}
		for i, s := range scripts {
			c.Entries = append(c.Entries, forks.Entry{Arm: i, Case: name + "/client=" + s.Name})
		}
		r.Comparisons = append(r.Comparisons, c)
	}
	t.Cleanup(func() {
		file.Close()
		r.checkNoProcess()
	})
	return r
}

func newArm(t *testing.T, s script) forks.Arm {
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return forks.Arm{Name: s.Name, Binary: os.Args[0], Args: []string{"-script=" + string(text)}}
}

// run carries out the plan, which is expected to come to its end.
func (r *rig) run() *forks.Result {
	r.t.Helper()
	result, err := forks.Run(r.t.Context(), r.Plan)
	if err != nil {
		r.t.Fatal(err)
	}
	if result.Forks != r.Forks {
		r.t.Errorf("%d forks completed, want %d", result.Forks, r.Forks)
	}
	return result
}

// noFailures is for a plan in which nothing goes wrong.
func (r *rig) noFailures(result *forks.Result) {
	r.t.Helper()
	for _, f := range result.Failures {
		r.t.Errorf("failure: %v", f)
	}
}

// events are those of the journal that do one of the things.
func (r *rig) events(do ...string) (events []event) {
	for _, e := range readJournal(r.journal) {
		for _, d := range do {
			if e.Do == d {
				events = append(events, e)
			}
		}
	}
	return events
}

// checkNoProcess: nothing is left of any arm that was started, not even a
// process that nobody waited for.
func (r *rig) checkNoProcess() {
	r.t.Helper()
	for _, e := range r.events("start") {
		if err := syscall.Kill(e.PID, 0); !errors.Is(err, syscall.ESRCH) {
			r.t.Errorf("arm %s, process %d: still there (%v)", e.Arm, e.PID, err)
		}
	}
}
