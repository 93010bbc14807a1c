package storm

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// A Class is a kind of failure, as the reports and metrics name it.
type Class string

const (
	Refused Class = "refused" // nobody listens
	Reset   Class = "reset"   // the other side broke the connection
	Again   Class = "eagain"  // the accept queue of a unix socket is full
	Timeout Class = "timeout"
	Gone    Class = "gone"   // the server closed the connection before it answered
	Full    Class = "full"   // the server has as many clients as it takes
	Ports   Class = "ports"  // this machine has no local port left
	Files   Class = "files"  // this process has no file descriptor left
	Other   Class = "others" // none of these
)

// Classes are all of them, in the order in which they are shown.
func Classes() []Class {
	return []Class{Refused, Reset, Again, Timeout, Gone, Full, Ports, Files, Other}
}

// Classify finds the class of an error of connecting or of the first command. A
// client that passes an error on as text only is understood too.
func Classify(err error) Class {
	text := strings.ToLower(err.Error())
	for _, k := range []struct {
		class Class
		is    []error
		says  []string
	}{
		{Full, nil, []string{"max number of clients"}},
		{Refused, []error{syscall.ECONNREFUSED}, []string{"connection refused"}},
		// Before Timeout, because EAGAIN calls itself one.
		{Again, []error{syscall.EAGAIN}, []string{"resource temporarily unavailable"}},
		{Reset, []error{syscall.ECONNRESET, syscall.EPIPE}, []string{"connection reset", "broken pipe"}},
		{Ports, []error{syscall.EADDRNOTAVAIL, syscall.EADDRINUSE}, []string{"cannot assign requested address"}},
		{Files, []error{syscall.EMFILE, syscall.ENFILE}, []string{"too many open files"}},
		{Timeout, []error{os.ErrDeadlineExceeded, syscall.ETIMEDOUT}, []string{"timeout", "timed out", "deadline exceeded"}},
		{Gone, []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed}, []string{"eof", "closed"}},
	} {
		for _, is := range k.is {
			if errors.Is(err, is) {
				return k.class
			}
		}
		for _, says := range k.says {
			if strings.Contains(text, says) {
				return k.class
			}
		}
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return Timeout
	}
	return Other
}
