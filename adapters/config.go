package adapters

import (
	"crypto/tls"
	"fmt"
	"time"
)

// Config says which server to connect to, and how. A Driver rejects what it
// cannot honour with an error that wraps ErrUnsupported; it never ignores it.
// Check finds what no client can honour.
type Config struct {
	Network  string // "tcp" or "unix"
	Addr     string // host:port, or the path of a unix socket
	Username string // empty: the default user; otherwise with a Password
	Password string // empty: no authentication; never part of an error
	DB       int    // database number from 0, selected on every connection

	// TLS, when not nil, is used on top of Network. The Driver may clone
	// it but does not modify it.
	TLS *tls.Config

	// Protocol is the RESP version, 2 or 3; 0 leaves the client's default.
	Protocol int

	// Setup says whether the client's extras on connect stay on; empty is
	// Stock.
	Setup Setup

	// Lazy lets Dial return before the connection is made, which the first
	// command then does. conn=fresh sets it: a client that connects on
	// demand would otherwise pay, to be established when Dial returns, for
	// a round trip that its users do not have.
	Lazy bool

	// DialTimeout bounds making one connection with its handshake, and
	// IOTimeout each read or write of a command. 0 keeps the client's own
	// default, which may be no limit.
	DialTimeout time.Duration
	IOTimeout   time.Duration
}

// Setup says how much of what a client does by itself is left on.
type Setup string

const (
	// Stock is the client as its README first shows it, with no option set
	// but those that the connection strategy needs. The zero value of Setup
	// means the same.
	Stock Setup = "stock"

	// Lean turns off what the client sends or runs besides the commands it
	// is given: identification, maintenance notifications, tracking,
	// background pings, retries, spare connections. The protocol handshake
	// stays.
	Lean Setup = "lean"
)

// Check returns an error that wraps ErrUnsupported if c, or a pool of conns
// connections, is nothing that a client could honour; nil if it depends on the
// client. A Driver calls it first, with 1 for Dial and Share: left to the
// clients, a negative timeout is no limit for one of them and an error for
// another, and a user without a password is dropped without a word.
func (c Config) Check(conns int) error {
	var wrong string
	switch {
	case c.Network != "tcp" && c.Network != "unix":
		wrong = fmt.Sprintf("network %q", c.Network)
	case c.Username != "" && c.Password == "":
		wrong = "username without a password"
	case c.DB < 0:
		wrong = fmt.Sprintf("database %d", c.DB)
	case c.Protocol != 0 && c.Protocol != 2 && c.Protocol != 3:
		wrong = fmt.Sprintf("protocol %d", c.Protocol)
	case c.Setup != "" && c.Setup != Stock && c.Setup != Lean:
		wrong = fmt.Sprintf("setup %q", c.Setup)
	case c.DialTimeout < 0:
		wrong = fmt.Sprintf("dial timeout of %v", c.DialTimeout)
	case c.IOTimeout < 0:
		wrong = fmt.Sprintf("I/O timeout of %v", c.IOTimeout)
	case conns < 1:
		wrong = fmt.Sprintf("pool of %d connections", conns)
	default:
		return nil
	}
	return fmt.Errorf("%s: %w", wrong, ErrUnsupported)
}
