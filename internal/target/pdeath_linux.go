package target

import "syscall"

// useGuard is false because the kernel itself ends a child with its parent.
var useGuard = false

// dieWithParent makes the kernel kill the child when the thread that started it
// ends, which is also when the process is killed or panics. launch keeps that
// thread.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
