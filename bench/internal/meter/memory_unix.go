//go:build unix

package meter

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// PeakMemory is the largest resident memory that this process has had, in
// bytes. Pages that it shares with other processes of the same program are
// among them.
//
// Note: where the system tells it, VmHWM is read and not ru_maxrss, which a
// Linux process inherits from the one that started it.
func PeakMemory() int64 {
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
				return n << 10
			}
		}
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
