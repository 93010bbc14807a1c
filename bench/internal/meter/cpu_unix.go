//go:build unix

package meter

import (
	"syscall"
	"time"
)

// ProcessCPU is the user and system time that this process has used.
func ProcessCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
