package turns_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"rcbench/bench/internal/turns"
)

// A script is a Handler that writes down its calls and answers from its
// fields.
type script struct {
	calls  []string
	err    error
	list   *turns.List
	opened *turns.Opened
	turn   *turns.Outcome
}

var _ turns.Handler = (*script)(nil)

func (s *script) call(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *script) List() (*turns.List, error) {
	s.call("list")
	return s.list, s.err
}

func (s *script) Open(name string) (*turns.Opened, error) {
	s.call("open %s", name)
	return s.opened, s.err
}

func (s *script) Prepare(ops int64) error {
	s.call("prepare %d", ops)
	return s.err
}

func (s *script) Turn(ops int64) (*turns.Outcome, error) {
	s.call("turn %d", ops)
	return s.turn, s.err
}

func (s *script) Close() error {
	s.call("close")
	return s.err
}

// answers is a script with an answer for everything.
func answers() *script {
	return &script{
		list: &turns.List{Version: turns.Version, Procs: 2, Clients: []turns.Client{{Name: "resp", Version: "floor"}},
			Cases: []turns.Case{{Name: "BenchmarkGet/conn=own/client=resp", Group: "BenchmarkGet/conn=own", Client: "resp", Skip: "a <reason>\n"}}},
		opened: &turns.Opened{Workers: 100, Claim: turns.Claim{Commands: map[string]int64{"get": 10}, Conns: 1, Errors: 2}},
		turn:   &turns.Outcome{Elapsed: 4 * time.Millisecond, CPU: time.Millisecond, Bytes: 1 << 40, Mallocs: 3, Idle: 0.125},
	}
}

// A talk is the other side of a Serve that runs.
type talk struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *json.Decoder
	done chan error // what Serve returned
}

func start(t *testing.T, h turns.Handler) *talk {
	in, inWriter := io.Pipe()
	outReader, out := io.Pipe()
	k := &talk{t: t, in: inWriter, out: json.NewDecoder(outReader), done: make(chan error, 1)}
	go func() {
		err := turns.Serve(h, in, out)
		out.Close()
		in.Close()
		k.done <- err
	}()
	t.Cleanup(func() { inWriter.Close() })
	return k
}

// ask sends a request and awaits its response, before it sends anything else.
func (k *talk) ask(q turns.Request) (p turns.Response) {
	k.t.Helper()
	if err := json.NewEncoder(k.in).Encode(q); err != nil {
		k.t.Fatalf("%+v: %v", q, err)
	}
	if err := k.out.Decode(&p); err != nil {
		k.t.Fatalf("%+v: no response: %v", q, err)
	}
	return p
}

// end ends the input, and returns what Serve returned.
func (k *talk) end() error {
	k.in.Close()
	return <-k.done
}

func TestEachRequest(t *testing.T) {
	h := answers()
	k := start(t, h)
	for _, tt := range []struct {
		q    turns.Request
		want turns.Response
	}{
		{turns.Request{Do: "list"}, turns.Response{List: h.list}},
		{turns.Request{Do: "open", Case: "BenchmarkGet/conn=own/client=resp"}, turns.Response{Open: h.opened}},
		{turns.Request{Do: "turn", Ops: 1}, turns.Response{Turn: h.turn}},
		{turns.Request{Do: "turn", Ops: 1 << 40}, turns.Response{Turn: h.turn}},
		{turns.Request{Do: "close"}, turns.Response{}},
	} {
		if got := k.ask(tt.q); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%+v: response %+v, want %+v", tt.q, got, tt.want)
		}
	}
	if err := k.end(); err != nil {
		t.Errorf("at the end of the input: %v", err)
	}
	want := []string{"list", "open BenchmarkGet/conn=own/client=resp", "turn 1", "turn 1099511627776", "close"}
	if !reflect.DeepEqual(h.calls, want) {
		t.Errorf("calls %q, want %q", h.calls, want)
	}
}

// TestErrorOfTheHandler: it goes to the other side, without half an answer,
// and the talk goes on.
func TestErrorOfTheHandler(t *testing.T) {
	h := answers()
	h.err = errors.New("resp: dial tcp 127.0.0.1:1: \"refused\"\nand more")
	k := start(t, h)
	for _, do := range []string{"list", "open", "turn", "close"} {
		if got, want := k.ask(turns.Request{Do: do}), (turns.Response{Error: h.err.Error()}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: response %+v, want %+v", do, got, want)
		}
	}
	h.err = nil
	if got := k.ask(turns.Request{Do: "turn", Ops: 1}); got.Error != "" || got.Turn == nil {
		t.Errorf("after the errors: response %+v, want a turn", got)
	}
	if err := k.end(); err != nil {
		t.Errorf("at the end of the input: %v", err)
	}
}

func TestUnknownRequest(t *testing.T) {
	h := answers()
	k := start(t, h)
	for _, do := range []string{"stop", "", "List"} {
		if got := k.ask(turns.Request{Do: do}); !strings.Contains(got.Error, fmt.Sprintf("%q", do)) {
			t.Errorf("response %+v, want an error that names %q", got, do)
		}
	}
	if len(h.calls) > 0 {
		t.Errorf("calls %q, want none", h.calls)
	}
	if got := k.ask(turns.Request{Do: "list"}); got.Error != "" || got.List == nil {
		t.Errorf("after that: response %+v, want a list", got)
	}
}

func TestInputs(t *testing.T) {
	tests := []struct {
		name, in string
		calls    int
		want     string // in the error; empty for none
	}{
		{"nothing", "", 0, ""},
		{"white space", " \n\n", 0, ""},
		{"without a new line at the end", `{"Do":"list"}`, 1, ""},
		{"two on a line", `{"Do":"list"} {"Do":"close"}`, 2, ""},
		{"one over lines", "{\n\"Do\":\n\"list\"\n}\n", 1, ""},
		{"a field of a later version", `{"Do":"list","Since":2}`, 1, ""},
		{"no JSON", "list\n", 0, "reading a request"},
		{"an array", "[]\n", 0, "reading a request"},
		{"ops that are no number", `{"Do":"turn","Ops":"many"}`, 0, "reading a request"},
		{"ends within a request", `{"Do":"list"}{"Do":"tu`, 1, "reading a request"},
		{"garbage after a request", `{"Do":"list"}]`, 1, "reading a request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := answers()
			var out strings.Builder
			err := turns.Serve(h, strings.NewReader(tt.in), &out)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
			if len(h.calls) != tt.calls {
				t.Errorf("calls %q, want %d", h.calls, tt.calls)
			}
			if lines := strings.Count(out.String(), "\n"); lines != tt.calls {
				t.Errorf("%d lines %q, want one for each call", lines, out.String())
			}
		})
	}
}

// broken is an output or an input that fails.
type broken struct{}

var errBroken = errors.New("broken pipe")

func (broken) Read([]byte) (int, error)  { return 0, errBroken }
func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestBrokenPipes(t *testing.T) {
	if err := turns.Serve(answers(), broken{}, io.Discard); !errors.Is(err, errBroken) {
		t.Errorf("input: error %v, want %v", err, errBroken)
	}
	h := answers()
	if err := turns.Serve(h, strings.NewReader(`{"Do":"list"}{"Do":"close"}`), broken{}); !errors.Is(err, errBroken) {
		t.Errorf("output: error %v, want %v", err, errBroken)
	}
	if len(h.calls) != 1 {
		t.Errorf("calls %q, want none after the one whose response is lost", h.calls)
	}
}

func FuzzServe(f *testing.F) {
	f.Add(`{"Do":"list"}{"Do":"open","Case":"x"}{"Do":"turn","Ops":5}{"Do":"close"}`)
	f.Add(`null [] {"Do":1}`)
	f.Fuzz(func(t *testing.T, in string) {
		var out strings.Builder
		turns.Serve(answers(), strings.NewReader(in), &out)
		d := json.NewDecoder(strings.NewReader(out.String()))
		for {
			var p turns.Response
			if err := d.Decode(&p); err == io.EOF {
				return
			} else if err != nil {
				t.Fatalf("%q: unreadable output %q: %v", in, out.String(), err)
			}
		}
	})
}
