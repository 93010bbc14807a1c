package drive

import (
	"errors"
	"fmt"
	"syscall"
)

// Hint is what the reader of a connection error can do about it, or "" where
// the error speaks for itself. conns is how many connections were wanted at
// the same time.
func Hint(err error, conns int) string {
	switch {
	case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
		return fmt.Sprintf("%d connections at once need more file descriptors than this process may have; raise the limit (ulimit -n) or lower -goroutines", conns)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "the local ports are used up: each fresh TCP connection keeps its port for about a minute after it is closed; " +
			"wait, lower -benchtime, use -nets=unix, or widen net.ipv4.ip_local_port_range"
	case errors.Is(err, syscall.EAGAIN):
		return "the server's accept queue is full, and unix sockets fail at once where TCP would wait; lower -goroutines or raise the server's tcp-backlog and net.core.somaxconn"
	}
	return ""
}
