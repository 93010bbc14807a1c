package adapters

import (
	"errors"
	"fmt"
)

var (
	// ErrNil says that the key or member does not exist.
	ErrNil = errors.New("redis: nil")

	// ErrReply is wrapped by every error that carries an error reply of the
	// server: the connection is sound, the command was refused.
	ErrReply = errors.New("error reply")

	// ErrUnsupported is wrapped when a client cannot do what was asked for.
	ErrUnsupported = errors.New("not supported by this client")
)

// A ReplyError is an error reply, with the server's text: "WRONGTYPE
// Operation against ...". It wraps ErrReply.
type ReplyError string

func (e ReplyError) Error() string { return string(e) }

// Unwrap makes errors.Is(e, ErrReply) true.
func (e ReplyError) Unwrap() error { return ErrReply }

// Unexpected is the error for a reply that is no error but is not what the
// command answers either. It shows at most the first bytes of what came.
func Unexpected(command string, got, want any) error {
	return fmt.Errorf("%s: reply %.40q, want %.40q", command, fmt.Sprint(got), fmt.Sprint(want))
}

// DialError names the driver and the address that a connection failed on. It
// returns nil for a nil error.
func DialError(driver string, cfg Config, err error) error {
	if err == nil {
		return nil
	}
	scheme := cfg.Network
	if cfg.TLS != nil {
		scheme = "tls"
	}
	return fmt.Errorf("%s: dial %s %s: %w", driver, scheme, cfg.Addr, err)
}

// Lacking is the error for a capability that the driver lacks.
func Lacking(d Driver, c Capability) error {
	return fmt.Errorf("%s: %s: %w: %s", d.Name(), c, ErrUnsupported, d.Lacks()[c])
}
