//go:build !linux

package target

import "syscall"

// useGuard is true because no signal tells a child of its parent's death.
var useGuard = true

func dieWithParent(*syscall.SysProcAttr) {}
