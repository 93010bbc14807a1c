package target

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"rcbench/internal/child"
)

// useGuard is whether servers are guarded.
var useGuard = !child.EndsWithParent

// A guard is a child that kills a server when this process has ended. It sees
// that on its standard input, a pipe whose other end only this process has, and
// which the kernel closes however the process ends. A nil guard does nothing.
//
// It is for systems without a parent-death signal; redis-server cannot be made
// to watch a pipe itself.
type guard struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

func startGuard() (*guard, error) {
	cmd, err := again("guard")
	if err != nil {
		return nil, err
	}
	child.OwnGroup(cmd) // outlive a Ctrl-C
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &guard{cmd, pipe}, nil
}

// watch tells the guard which process to kill.
func (g *guard) watch(pid int) error {
	if g == nil {
		return nil
	}
	_, err := fmt.Fprintln(g.pipe, pid)
	return err
}

// dismiss ends the guard, after the server has been waited for: from then on
// its pid may be another's.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	io.WriteString(g.pipe, "done\n")
	g.pipe.Close()
	g.cmd.Wait()
}

// runGuard is what the child does.
func runGuard(in io.Reader) error {
	r := bufio.NewReader(in)
	var pid int
	if _, err := fmt.Fscanln(r, &pid); err != nil || pid <= 1 {
		return nil // the server was not started
	}
	if line, _ := r.ReadString('\n'); strings.TrimSpace(line) == "done" {
		return nil
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// envChild is the environment variable that makes Main take the part of a child.
const envChild = "RCBENCH_CHILD"

// mainCalled is set by Main.
var mainCalled bool

// Main must be the first call of main or TestMain in every program that starts
// servers. In a child that Start re-executed it does the child's work and never
// returns; otherwise it does nothing.
func Main() {
	mainCalled = true
	var err error
	switch part := os.Getenv(envChild); part {
	case "":
		return
	case "miniredis":
		err = serveMiniredis(os.Stdin, os.Stdout)
	case "guard":
		err = runGuard(os.Stdin)
	default:
		err = fmt.Errorf("no part %q", part)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "rcbench child: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// again is a command that runs this program again to play part. Without Main the
// program would do all its work again, start a child, and so on.
func again(part string) (*exec.Cmd, error) {
	if !mainCalled {
		return nil, fmt.Errorf("target.Main is not called first in main or TestMain")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	for _, entry := range os.Environ() {
		// The child needs no server, and no password.
		if !strings.HasPrefix(entry, envAttach+"=") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, envChild+"="+part)
	return cmd, nil
}
