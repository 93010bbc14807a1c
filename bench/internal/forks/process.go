package forks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"rcbench/bench/internal/turns"
	"rcbench/internal/child"
)

// How long an answer may take. The arm has its own limit for ops that hang,
// which is shorter and says more; it comes on top of turnLimit.
const (
	openLimit = 60 * time.Second
	turnLimit = 20 * time.Second
	listLimit = 30 * time.Second
)

// A process is a running arm. Its methods are called by one goroutine.
type process struct {
	arm     Arm
	rest    float64 // share of each turn to wait after it: the largest Stretch of all arms
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan answer
	stderr  *tail
	dead    bool
}

type answer struct {
	turns.Response
	err error
}

// List starts an arm, asks what it has, and ends it.
func List(ctx context.Context, arm Arm, env []string) (*turns.List, error) {
	p, err := start(ctx, arm, env)
	if err != nil {
		return nil, err
	}
	defer p.end()
	return p.list(ctx)
}

// list asks an arm what it has, which it can tell once it is ready.
func (p *process) list(ctx context.Context) (*turns.List, error) {
	response, err := p.call(ctx, turns.Request{Do: "list"}, listLimit)
	if err != nil {
		return nil, err
	}
	if response.List.Version != turns.Version {
		return nil, fmt.Errorf("%s: it does not take turns by protocol %d of this command", p.arm.Name, turns.Version)
	}
	return response.List, nil
}

func start(ctx context.Context, arm Arm, env []string) (*process, error) {
	args := append([]string{"-" + turns.Flag}, arm.Args...)
	cmd := exec.CommandContext(ctx, arm.Binary, args...)
	cmd.Env = append(os.Environ(), env...)
	p := &process{arm: arm, cmd: cmd, answers: make(chan answer), stderr: &tail{}}
	cmd.Stderr = p.stderr
	child.OwnGroup(cmd) // Ctrl-C is for the command to act on
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting arm %s: %w", arm.Name, err)
	}
	go p.read(out)
	return p, nil
}

// read passes on the answers until the output ends.
func (p *process) read(out io.Reader) {
	defer close(p.answers)
	d := json.NewDecoder(out)
	for {
		var a answer
		a.err = d.Decode(&a.Response)
		if errors.Is(a.err, io.EOF) {
			return
		}
		p.answers <- a
		if a.err != nil {
			return
		}
	}
}

// call sends a request and awaits its answer. After an error of the process,
// other than one that the answer carries, the process is dead.
func (p *process) call(ctx context.Context, q turns.Request, limit time.Duration) (turns.Response, error) {
	if p.dead {
		return turns.Response{}, errors.New("the process has ended")
	}
	line, err := json.Marshal(q)
	if err != nil {
		return turns.Response{}, err
	}
	_, writeErr := p.in.Write(append(line, '\n'))
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a, ok := <-p.answers:
		switch {
		case !ok:
			return turns.Response{}, p.ended(writeErr)
		case a.err != nil:
			p.kill()
			return turns.Response{}, fmt.Errorf("%s: unreadable answer: %w", q.Do, a.err)
		case a.Error != "":
			return turns.Response{}, errors.New(a.Error)
		case q.Do == "list" && a.List == nil, q.Do == "open" && a.Open == nil, q.Do == "turn" && a.Turn == nil:
			p.kill()
			return turns.Response{}, fmt.Errorf("%s: an answer to something else; the process was ended", q.Do)
		}
		p.stretch(a.Turn)
		return a.Response, nil
	case <-timer.C:
		p.kill()
		return turns.Response{}, fmt.Errorf("%s: no answer for %v; the process was ended", q.Do, limit)
	case <-ctx.Done():
		p.kill()
		return turns.Response{}, ctx.Err()
	}
}

// stretch waits for a share of a turn, of which the arm's own counts as its time.
//
// Note: the arm that is not stretched waits as well. When only one did, the
// other mostly began its turns after that rest, and was the faster for it: 3 %
// were measured as 3.5.
func (p *process) stretch(turn *turns.Outcome) {
	if turn == nil {
		return
	}
	share := func(part float64) time.Duration { return time.Duration(float64(turn.Elapsed) * part) }
	start, rest := time.Now(), share(p.rest)
	for time.Since(start) < rest {
	}
	turn.Elapsed += share(p.arm.Stretch)
}

// ended says how a process ended that should not have.
func (p *process) ended(cause error) error {
	p.kill()
	how := p.cmd.ProcessState.String()
	if text := p.stderr.String(); text != "" {
		return fmt.Errorf("the process ended: %s: %s", how, text)
	}
	return errors.Join(fmt.Errorf("the process ended: %s", how), cause)
}

// end closes the input, at which a sound arm ends, and waits for it.
func (p *process) end() {
	if p == nil || p.dead {
		return
	}
	p.in.Close()
	timer := time.AfterFunc(5*time.Second, func() { child.KillGroup(p.cmd) })
	p.wait()
	timer.Stop()
}

func (p *process) kill() {
	if !p.dead {
		child.KillGroup(p.cmd)
		p.wait()
	}
}

func (p *process) wait() {
	for range p.answers {
	}
	p.cmd.Wait()
	p.dead = true
}

// A tail keeps the end of what an arm writes to stderr, for an error message.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 2000

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	t.buf = t.buf[max(0, len(t.buf)-tailSize):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(bytes.ToValidUTF8(t.buf, nil)))
}
