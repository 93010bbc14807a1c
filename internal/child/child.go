//go:build unix

// Package child says how a process that rcbench starts ends: together with
// what it started itself, and not later than the process that started it.
package child

import (
	"os/exec"
	"syscall"
)

// OwnGroup puts the process of cmd, which is not started yet, into a process
// group of its own: a Ctrl-C does not reach it, and KillGroup can end it.
func OwnGroup(cmd *exec.Cmd) { attr(cmd).Setpgid = true }

// KillGroup ends a process with a group of its own, and what it started: a
// grandchild that holds the output open would keep its reader waiting.
func KillGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

func attr(cmd *exec.Cmd) *syscall.SysProcAttr {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	return cmd.SysProcAttr
}
