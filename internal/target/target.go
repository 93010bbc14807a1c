// Package target finds, starts, probes and stops the Redis server under test,
// and reads its counters.
//
// A server is always another process, also miniredis, which runs in a
// re-executed child: allocations and CPU of the process that measures are then
// the client's alone. The workflow is
//
//	func TestMain(m *testing.M) {
//		target.Main() // in the child this serves and never returns
//		...
//		srv, err := target.Start(ctx, target.Options{Target: "auto"})
//		...
//		defer srv.Close()
//		cfg, err := srv.Config("tcp")    // for a Driver
//		before, err := srv.Counters(ctx) // around what is measured
//		...
//		after, err := srv.Counters(ctx)
//		cost := after.Since(before)
//	}
//
// A started server ends with the process that started it, however that ends
// (see pdeath_linux.go), and a folder that a killed process left behind is
// removed by the next Start (see package tempdir). A server that is named by a URL
// belongs to somebody else: the suite is its guest, and writes and removes
// only keys below [KeyPrefix].
//
// Note: the package is in the internal folder of the module and not in that of
// bench, because the conformance tests of the drivers start servers too and
// must not import bench.
package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"rcbench/adapters"
	"rcbench/adapters/resp"
	"rcbench/internal/tempdir"
)

// KeyPrefix begins every key that the suite writes. Close removes the keys
// below it from a server of which the suite is a guest.
const KeyPrefix = "rcbench:"

const (
	// EnvTarget is the environment variable that names the target where
	// Options.Target is empty.
	EnvTarget = "RCBENCH_TARGET"

	// EnvRequireServer is the environment variable that, when not empty,
	// keeps the target "auto" from falling back to miniredis.
	EnvRequireServer = "RCBENCH_REQUIRE_SERVER"

	// EnvCACert is the environment variable that names a PEM file with the
	// certificates that a rediss:// server is verified with, in place of
	// the system's.
	EnvCACert = "RCBENCH_CACERT"
)

const (
	socketName = "redis.sock"

	// maxSocketPath is what the shortest sun_path (104 on the BSDs, 108 on
	// Linux) has room for with its final NUL.
	maxSocketPath = 103
)

const (
	answerTimeout  = 5 * time.Second  // for a guest's server to accept and to answer PING
	startTimeout   = 20 * time.Second // for a started server to answer
	controlTimeout = 30 * time.Second // for one command of the control connection
	infoTimeout    = 8 * time.Second  // for one reading of the counters
	cleanTimeout   = 30 * time.Second // for removing a guest's keys
)

// Options says which server to start or to connect to.
type Options struct {
	// Target is "auto" (redis-server or valkey-server if PATH has one,
	// else miniredis), "miniredis", "redis-server", "valkey-server", the
	// path of such a binary, or a URL redis://, rediss:// or unix://.
	// Empty stands for RCBENCH_TARGET, and for "auto" where that is unset.
	Target string

	// Password is asked for by a server that is started; empty for none. A
	// guest's password is in its URL.
	Password string

	// TLS makes a server that is started listen with TLS too.
	TLS bool

	// Backlog is the length of the queue of a started server's listeners;
	// 0 stands for 4096. The kernel may lower it (net.core.somaxconn).
	Backlog int

	// Stderr receives the log of a started server, without the password;
	// nil for nowhere.
	Stderr io.Writer
}

// A Server is the server under test. Its methods may be called by several
// goroutines at once, but those that use the control connection (Counters and
// all methods of Control) only one at a time.
type Server struct {
	identity
	endpoints
	request request // what it was started for

	guest   bool // named by a URL, and this process looks after it
	foreign bool // named by a URL
	control adapters.Client
	proc    *process        // nil unless this process started it
	dir     *tempdir.Folder // nil unless this process started it

	closing  sync.Once
	closeErr error
}

// Start finds or starts the server that o asks for, and returns when it has
// answered PING and, where it was started, has been seen to be ours. ctx bounds
// Start only; when it is cancelled nothing is left behind.
//
// In a process that got Env from the process that started a server, Start
// connects to that server if o asks for the same: the same target and password,
// and TLS only if it has TLS. Otherwise it starts its own.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Target == "" {
		o.Target = os.Getenv(EnvTarget)
	}
	if o.Target == "" {
		o.Target = "auto"
	}
	if o.Backlog == 0 {
		o.Backlog = 4096
	}
	if s, err := attach(ctx, o); s != nil || err != nil {
		return s, err
	}
	f, err := find(o.Target)
	if err != nil {
		return nil, err
	}
	switch {
	case f.url != nil:
		return visit(ctx, o, f.url)
	case f.path != "":
		return startServer(ctx, o, f.path)
	default:
		return startMiniredis(ctx, o)
	}
}

// Name is the kind of server: "redis", "valkey", "miniredis", or what else the
// server calls itself.
func (s *Server) Name() string { return s.identity.Name }

// Version is the server's version, or "unknown" where it does not tell.
func (s *Server) Version() string { return s.identity.Version }

// Describe names the server and says where it came from, for the head of a
// result: "redis 7.0.15, started redis-server".
func (s *Server) Describe() string { return s.Name() + " " + s.Version() + ", " + s.Origin }

// Miniredis reports whether the server is miniredis, whose figures are no basis
// for choosing a client.
func (s *Server) Miniredis() bool { return s.Name() == "miniredis" }

// Guest reports whether the server was named by a URL and is not ours. It is
// false for an attached server, which the process that handed it over looks
// after.
func (s *Server) Guest() bool { return s.guest }

// Foreign reports whether the server was named by a URL, also where another
// process handed it over: it has keys that are not the suite's.
func (s *Server) Foreign() bool { return s.foreign }

// Root is what a client needs to verify the server of net=tls: the name in its
// certificate, and the root certificates in PEM, empty for the system's.
func (s *Server) Root() (name, pem string) { return s.ServerName, s.CA }

// PID is the process id that the server reports, 0 where it does not.
func (s *Server) PID() int { return s.identity.PID }

// MaxClients is the number of connections that the server accepts, which may be
// less than it was configured with if the limit of open files is low. It is 0
// where the server does not tell.
func (s *Server) MaxClients() int { return s.identity.MaxClients }

// Config is how to connect over net, which is "tcp", "unix" or "tls". It has
// neither protocol, setup nor timeouts set.
func (s *Server) Config(net string) (adapters.Config, error) {
	cfg, err := s.config(net)
	if err != nil {
		return cfg, fmt.Errorf("target %s %w", s.Label, err)
	}
	return cfg, nil
}

// Control is the connection that is kept beside those that are measured, to
// load keys and to read counters with. It is opened by Start and closed by
// Close; the caller serialises its use, Counters included.
func (s *Server) Control() adapters.Client { return s.control }

// Dial opens a connection like Control to another database, which the caller
// closes.
func (s *Server) Dial(ctx context.Context, db int) (adapters.Client, error) {
	cfg, err := s.configAny()
	if err != nil {
		return nil, fmt.Errorf("target %s %w", s.Label, err)
	}
	cfg.DB = db
	c, err := dial(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("target %s: database %d: %w", s.Label, db, err)
	}
	return c, nil
}

// Died is nil while the process of a started server lives and after Close;
// otherwise it says how the process ended, with the last line of its log. It
// is nil for a server that this process did not start.
func (s *Server) Died() error {
	if s.proc == nil {
		return nil
	}
	return s.proc.died()
}

// Close ends a started server and removes its folder; of a server of which the
// suite is a guest it removes the keys below KeyPrefix; from an attached one it
// only disconnects. A second call returns what the first did.
func (s *Server) Close() error {
	s.closing.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Server) close() error {
	var errs []error
	if s.guest {
		if err := s.clean(); err != nil {
			errs = append(errs, fmt.Errorf("target %s: removing the keys below %q: %w", s.Label, KeyPrefix, err))
		}
	}
	if s.control != nil {
		err := s.control.Close()
		// The control connection of a server that died is no news.
		if s.proc == nil || s.proc.died() == nil {
			errs = append(errs, err)
		}
	}
	if s.proc != nil {
		errs = append(errs, s.proc.stop())
	}
	if s.dir != nil {
		errs = append(errs, s.dir.Remove())
	}
	return errors.Join(errs...)
}

// connect opens the control connection and asks the server who it is. The unix
// socket comes first because it needs no port where fresh connections may have
// used them all.
func (s *Server) connect(ctx context.Context) error {
	cfg, err := s.configAny()
	if err != nil {
		return err
	}
	s.control, err = dial(ctx, cfg)
	if err != nil {
		return err
	}
	origin := s.Origin
	s.identity, err = identify(ctx, s.control)
	s.Origin = origin
	if err == nil && s.MaxClients() == 0 && s.proc != nil {
		// Redis before 7.0 has it in its configuration only, which is
		// none of a guest's business.
		reply, _ := s.control.Do(ctx, "CONFIG", "GET", "maxclients")
		if pair, _ := reply.([]any); len(pair) == 2 {
			text, _ := pair[1].(string)
			s.identity.MaxClients, _ = strconv.Atoi(text)
		}
	}
	return err
}

// dial opens a connection that has answered PING.
func dial(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	cfg.DialTimeout, cfg.IOTimeout = answerTimeout, controlTimeout
	c, err := resp.Driver.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := c.Ping(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// identity is who the server says it is.
type identity struct {
	Name       string
	Version    string
	Origin     string // "started redis-server", "at redis://host:6379"
	PID        int
	MaxClients int
}

// identify reads the identity from INFO. A server that refuses INFO is a redis
// of unknown version; any other failure is an error.
func identify(ctx context.Context, c adapters.Client) (identity, error) {
	reply, err := c.Do(ctx, "INFO", "all")
	if errors.Is(err, adapters.ErrReply) {
		return identity{Name: "redis", Version: "unknown"}, nil
	}
	if err != nil {
		return identity{}, err
	}
	text, _ := reply.(string)
	return parseIdentity(text), nil
}

// parseIdentity finds the identity in a reply of INFO.
func parseIdentity(text string) identity {
	in := parseInfo(text)
	id := identity{Name: in.fields["server_name"]}
	if id.Name == "" && in.fields["dragonfly_version"] != "" {
		id.Name = "dragonfly"
	}
	if id.Name == "" {
		id.Name = "redis"
	}
	// valkey_version, dragonfly_version; each of them also claims a
	// redis_version that it is compatible with.
	for _, field := range []string{id.Name + "_version", "redis_version"} {
		if id.Version == "" {
			id.Version = in.fields[field]
		}
	}
	if id.Version == "" {
		id.Version = "unknown"
	}
	id.PID, _ = strconv.Atoi(in.fields["process_id"])
	id.MaxClients, _ = strconv.Atoi(in.fields["maxclients"])
	return id
}
