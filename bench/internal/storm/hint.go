package storm

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Hint is what the reader of an error of Start can do about it, or "" where the
// error speaks for itself. procs is how many processes were wanted. (What the
// processes themselves lack is no error, but counted by class.)
func Hint(err error, procs int) string {
	var path *fs.PathError
	switch {
	case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
		return fmt.Sprintf("the pipes of %d processes need more file descriptors than this process may have; raise the limit (ulimit -n) or lower -procs", procs)
	case errors.Is(err, syscall.EAGAIN) && errors.As(err, &path) && path.Op == "fork/exec":
		return fmt.Sprintf("%d processes are more than this user may have; raise the limit (ulimit -u) or lower -procs", procs)
	}
	return ""
}
