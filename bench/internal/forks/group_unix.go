//go:build unix

package forks

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a process into a process group of its own, which signals of
// the terminal do not reach.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
