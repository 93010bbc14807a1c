//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// killWithChildren makes the cancelling of a command end the processes that it
// started as well.
func killWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
