package target

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"rcbench/internal/child"
)

// stopTimeout is how long a process has to end after SIGTERM.
const stopTimeout = 2 * time.Second

// A process is a server's process that ends with this one.
type process struct {
	name     string // as in errors
	cmd      *exec.Cmd
	log      *tail
	guard    *guard        // where the kernel does not end it with us
	exited   chan struct{} // closed when the process has been waited for
	err      error         // of Wait, once exited is closed
	stopping atomic.Bool
}

// launch starts cmd, whose standard error goes to log.
func launch(name string, cmd *exec.Cmd, log *tail) (*process, error) {
	p := &process{name: name, cmd: cmd, log: log, exited: make(chan struct{})}
	cmd.Stderr = log
	cmd.WaitDelay = stopTimeout
	// A group of its own, so that the Ctrl-C which ends a benchmark early
	// does not end the server before the benchmark has read its counters.
	child.OwnGroup(cmd)
	if useGuard {
		g, err := startGuard()
		if err != nil {
			return nil, err
		}
		p.guard = g
	} else {
		child.EndWithParent(cmd)
	}
	started := make(chan error, 1)
	go func() {
		// This thread must live as long as the child (EndWithParent), and
		// serve nobody else.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		log.flush()
		close(p.exited)
	}()
	if err := <-started; err != nil {
		p.guard.dismiss()
		return nil, err
	}
	if err := p.guard.watch(cmd.Process.Pid); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// pid is the id of the process.
func (p *process) pid() int { return p.cmd.Process.Pid }

// died is nil while the process lives, and once it is being stopped.
func (p *process) died() error {
	select {
	case <-p.exited:
		if p.stopping.Load() {
			return nil
		}
		return p.ending()
	default:
		return nil
	}
}

// ending says how the process ended.
func (p *process) ending() error {
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	if last := p.log.last(); last != "" {
		how += ": " + last
	}
	return fmt.Errorf("target %s: process %d ended: %s", p.name, p.pid(), how)
}

// stop ends the process and waits for it. It is an error if the process answers
// SIGTERM with another status than 0, as the race detector makes it.
func (p *process) stop() error {
	defer p.guard.dismiss()
	select {
	case <-p.exited:
		p.stopping.Store(true)
		return nil
	default:
	}
	p.stopping.Store(true)
	p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-timer.C:
		p.cmd.Process.Kill()
		<-p.exited
		return nil
	}
	var exit *exec.ExitError
	if errors.As(p.err, &exit) && exit.Exited() {
		return p.ending()
	}
	return nil
}

// A tail passes lines of a log on, and keeps the last ones. It leaves the
// password out: a server quotes the line of its configuration that it rejects.
type tail struct {
	mu     sync.Mutex
	to     io.Writer // nil for nowhere
	secret *strings.Replacer
	part   []byte // a line that has not ended
	lines  []string
}

const (
	tailLines  = 40
	maxLogLine = 4096
)

func newTail(to io.Writer, password string) *tail {
	t := &tail{to: to, secret: strings.NewReplacer()}
	if password != "" {
		t.secret = strings.NewReplacer(quote(password), "(password)", password, "(password)")
	}
	return t
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.part = append(t.part, p...)
	for {
		line, rest, ok := bytes.Cut(t.part, []byte("\n"))
		if !ok {
			break
		}
		t.add(string(line))
		t.part = rest
	}
	if len(t.part) > maxLogLine {
		t.add(string(t.part))
		t.part = nil
	}
	return len(p), nil
}

func (t *tail) add(line string) {
	line = t.secret.Replace(strings.TrimRight(line, "\r"))
	if t.to != nil {
		fmt.Fprintln(t.to, line)
	}
	if strings.TrimSpace(line) == "" {
		return
	}
	if len(t.lines) == tailLines {
		t.lines = t.lines[1:]
	}
	t.lines = append(t.lines, strings.TrimSpace(line))
}

// flush ends the last line.
func (t *tail) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.part) > 0 {
		t.add(string(t.part))
		t.part = nil
	}
}

// last is the last line that is not empty.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		return ""
	}
	return t.lines[len(t.lines)-1]
}

// contains reports whether one of the kept lines contains text.
func (t *tail) contains(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range t.lines {
		if strings.Contains(line, text) {
			return true
		}
	}
	return false
}
