package child

import (
	"os/exec"
	"syscall"
)

// EndsWithParent tells whether EndWithParent has an effect on this system.
const EndsWithParent = true

// EndWithParent makes the kernel kill the process of cmd, which is not started
// yet, when this one ends, however it does. What the kernel watches is the
// thread that starts it: the caller must lock its goroutine to its thread
// until the process has ended (runtime.LockOSThread).
func EndWithParent(cmd *exec.Cmd) { attr(cmd).Pdeathsig = syscall.SIGKILL }
