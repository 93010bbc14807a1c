package target

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"

	"rcbench/adapters"

	"rcbench/internal/tempdir"
)

//go:embed redis.conf
var confText string

var confTemplate = template.Must(template.New("redis.conf").Funcs(template.FuncMap{"quote": quote}).Parse(confText))

// conf is what redis.conf is filled in with.
type conf struct {
	Port, TLSPort     int
	Socket, Dir       string
	CertFile, KeyFile string
	Password          string
	Backlog           int
}

// quote writes s as a quoted argument of redis.conf.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("/._-", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// started is a server of ours that is not connected to yet.
func started(o Options, name string) (*Server, error) {
	dir, err := tempdir.New(socketName, maxSocketPath)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", name, err)
	}
	s := &Server{request: o.request(), dir: dir}
	s.Label = name
	s.Origin = "started " + name
	s.Password = o.Password
	s.Unix = dir.File(socketName)
	return s, nil
}

// errPortTaken says that another program took the free port that was found.
var errPortTaken = errors.New("the port was taken by another program")

// startServer starts the redis-server or valkey-server at path.
func startServer(ctx context.Context, o Options, path string) (_ *Server, err error) {
	name := filepath.Base(path)
	s, err := started(o, name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Close()
			err = fmt.Errorf("target %s: %w", name, err)
		}
	}()
	c := conf{Socket: s.Unix, Dir: s.dir.Path, Password: o.Password, Backlog: o.Backlog}
	if o.TLS {
		cert, key, err := newCert()
		if err != nil {
			return nil, err
		}
		c.CertFile, c.KeyFile = s.dir.File("cert.pem"), s.dir.File("key.pem")
		if err := errors.Join(os.WriteFile(c.CertFile, cert, 0o600), os.WriteFile(c.KeyFile, key, 0o600)); err != nil {
			return nil, err
		}
		s.ServerName, s.CA = certName, string(cert)
	}
	const tries = 10
	for range tries {
		err = s.tryPorts(ctx, o, path, c)
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return s, s.connect(ctx)
}

// tryPorts starts the server on ports that were free a moment ago.
func (s *Server) tryPorts(ctx context.Context, o Options, path string, c conf) error {
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	c.Port = ports[0]
	s.TCP = net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port))
	if o.TLS {
		c.TLSPort = ports[1]
		s.TLS = net.JoinHostPort("127.0.0.1", strconv.Itoa(c.TLSPort))
	}
	var text bytes.Buffer
	if err := confTemplate.Execute(&text, c); err != nil {
		return err
	}
	// The configuration goes in on standard input because a command line,
	// and so a password on it, is there for all to read in ps.
	cmd := exec.Command(path, "-")
	cmd.Stdin = &text
	log := newTail(o.Stderr, o.Password)
	cmd.Stdout = log
	p, err := launch(s.Label, cmd, log)
	if err != nil {
		return err
	}
	err = s.await(ctx, p)
	if err == nil {
		s.proc = p
		return nil
	}
	select {
	case <-p.exited:
		if log.contains("Address already in use") {
			err = errPortTaken
		}
	default:
	}
	p.stop()
	return err
}

// await returns when p answers on every network. A port may have been taken by
// another Redis, which then answers in its place: the answer must come from p.
func (s *Server) await(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for _, network := range []string{"tcp", "unix", "tls"} {
		cfg, err := s.config(network)
		if err != nil {
			continue // not asked for
		}
		for {
			if err = answersAs(ctx, cfg, p.pid()); err == nil {
				break
			}
			select {
			case <-p.exited:
				return p.ending()
			case <-ctx.Done():
				return fmt.Errorf("waiting for an answer on %s: %w (last: %w)", network, ctx.Err(), err)
			case <-tick.C:
			}
		}
	}
	return nil
}

// answersAs fails unless the process pid answers at cfg.
func answersAs(ctx context.Context, cfg adapters.Config, pid int) error {
	c, err := dial(ctx, cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	id, err := identify(ctx, c)
	if err == nil && id.PID != pid {
		err = fmt.Errorf("process %d answers at %s, not %d", id.PID, cfg.Addr, pid)
	}
	return err
}

// freePorts finds n TCP ports of the loopback interface that are free now.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // only at the end, so that the ports differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
