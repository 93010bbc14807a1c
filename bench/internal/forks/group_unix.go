//go:build unix

package forks

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a process into a process group of its own, which signals of
// the terminal do not reach.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a process and what it started: a child that holds the output
// open would keep its reader waiting.
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
