package target

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"rcbench/adapters"
)

// childOptions is what the parent writes to the child that serves miniredis, on
// its standard input, which stays open: its end is the parent's end.
type childOptions struct {
	Socket    string
	Password  string
	Backlog   int
	Cert, Key []byte // PEM; empty without TLS
}

// childReady is what the child answers, on its standard output, once it listens.
type childReady struct {
	TCP, TLS string
}

// startMiniredis starts miniredis in a child.
func startMiniredis(ctx context.Context, o Options) (_ *Server, err error) {
	const name = "miniredis"
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
	opts := childOptions{Socket: s.Unix, Password: o.Password, Backlog: o.Backlog}
	if o.TLS {
		if opts.Cert, opts.Key, err = newCert(); err != nil {
			return nil, err
		}
		s.ServerName, s.CA = certName, string(opts.Cert)
	}
	cmd, err := again(name)
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	log := newTail(o.Stderr, o.Password)
	ready := &readyLine{log: log, line: make(chan []byte, 1)}
	cmd.Stdout = ready
	if s.proc, err = launch(name, cmd, log); err != nil {
		return nil, err
	}
	if err := json.NewEncoder(in).Encode(opts); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var r childReady
	select {
	case line := <-ready.line:
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, err
		}
	case <-s.proc.exited:
		return nil, s.proc.ending()
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for the child: %w", ctx.Err())
	}
	s.TCP, s.TLS = r.TCP, r.TLS
	if err := s.await(ctx, s.proc); err != nil {
		return nil, err
	}
	return s, s.connect(ctx)
}

// A readyLine waits for the line of JSON in what a child prints; what else its
// packages print when they are initialised goes to the log.
type readyLine struct {
	log  *tail
	buf  []byte
	line chan []byte
}

func (w *readyLine) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	for {
		line, rest, ok := strings.Cut(string(w.buf), "\n")
		if !ok {
			return len(p), nil
		}
		w.buf = []byte(rest)
		if strings.HasPrefix(line, `{"TCP":`) {
			select {
			case w.line <- []byte(line):
			default:
			}
			continue
		}
		fmt.Fprintln(w.log, line)
	}
}

// serveMiniredis is what the child does, until it gets SIGTERM or in ends.
func serveMiniredis(in io.Reader, out io.Writer) error {
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	dec := json.NewDecoder(in)
	var o childOptions
	if err := dec.Decode(&o); err != nil {
		return err
	}
	parent := make(chan struct{})
	go func() {
		io.Copy(io.Discard, in)
		close(parent)
	}()

	srv, t, err := newMiniredis(o.Password)
	if err != nil {
		return err
	}
	var r childReady
	serve := func(network, addr string, cfg *tls.Config) (string, error) {
		l, err := listen(network, addr, o.Backlog)
		if err != nil {
			return "", err
		}
		addr = l.Addr().String()
		if cfg != nil {
			l = tls.NewListener(l, cfg)
		}
		go accept(l, srv, t)
		return addr, nil
	}
	if r.TCP, err = serve("tcp", "127.0.0.1:0", nil); err != nil {
		return err
	}
	if _, err = serve("unix", o.Socket, nil); err != nil {
		return err
	}
	if len(o.Cert) > 0 {
		cert, err := tls.X509KeyPair(o.Cert, o.Key)
		if err != nil {
			return err
		}
		cfg := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
		if r.TLS, err = serve("tcp", "127.0.0.1:0", cfg); err != nil {
			return err
		}
	}
	if err := json.NewEncoder(out).Encode(r); err != nil {
		return err
	}
	select {
	case <-term:
	case <-parent:
	}
	return nil
}

// newMiniredis is a miniredis without a listener whose INFO reports the tally.
func newMiniredis(password string) (*server.Server, *tally, error) {
	m := miniredis.NewMiniRedis()
	if password != "" {
		m.RequireAuth(password)
	}
	// Dial is how a miniredis starts without listening: a listener of its
	// own would bypass the tally.
	conn, err := m.Dial()
	if err != nil {
		return nil, nil, err
	}
	conn.Close()
	srv := m.Server()
	t := newTally(srv.IsRegisteredCommand)
	srv.SetPreHook(func(c *server.Peer, cmd string, _ ...string) bool {
		if cmd != "INFO" {
			return false
		}
		// ECHO asks for the password, and queues in a transaction, as
		// INFO has to.
		srv.Dispatch(c, []string{"ECHO", t.info()})
		return true
	})
	return srv, t, nil
}

// listen listens with a backlog, which package net always takes from the kernel:
// to listen once more changes it.
func listen(network, addr string, backlog int) (net.Listener, error) {
	l, err := net.Listen(network, addr)
	if err != nil {
		return nil, err
	}
	raw, err := l.(syscall.Conn).SyscallConn()
	if err == nil {
		var err2 error
		err = raw.Control(func(fd uintptr) { err2 = syscall.Listen(int(fd), backlog) })
		err = errors.Join(err, err2)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// accept serves the connections of l for as long as the child lives.
func accept(l net.Listener, srv *server.Server, t *tally) {
	for {
		c, err := l.Accept()
		if err != nil {
			// Out of file descriptors: some will be closed.
			time.Sleep(5 * time.Millisecond)
			continue
		}
		srv.ServeConn(newTalliedConn(c, t))
	}
}

// info is the tally in the form of a reply of INFO.
func (t *tally) info() string {
	version := strings.TrimPrefix(adapters.LinkedVersion(miniredis.NewMiniRedis), "v")
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	var files syscall.Rlimit
	syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files)

	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\r\n", args...) }
	line("# Server")
	line("server_name:miniredis")
	line("miniredis_version:%s", version)
	line("process_id:%d", os.Getpid())
	line("\r\n# Clients")
	line("connected_clients:%d", t.clients.Load())
	line("maxclients:%d", min(files.Cur, 20000))
	line("\r\n# Stats")
	line("total_connections_received:%d", t.connections.Load())
	line("rejected_connections:0")
	line("total_commands_processed:%d", t.commands.Load())
	line("total_error_replies:%d", t.errors.Load())
	line("total_net_input_bytes:%d", t.in.Load())
	line("total_net_output_bytes:%d", t.out.Load())
	line("total_reads_processed:%d", t.reads.Load())
	line("\r\n# CPU")
	line("used_cpu_sys:%.6f", float64(usage.Stime.Nano())/1e9)
	line("used_cpu_user:%.6f", float64(usage.Utime.Nano())/1e9)

	t.mu.RLock()
	defer t.mu.RUnlock()
	line("\r\n# Commandstats")
	for name, st := range t.stats {
		if st.calls.Load()+st.rejected.Load() == 0 {
			continue // as Redis does
		}
		line("cmdstat_%s:calls=%d,usec=0,usec_per_call=0.00,rejected_calls=%d,failed_calls=%d",
			name, st.calls.Load(), st.rejected.Load(), st.failed.Load())
	}
	line("\r\n# Errorstats")
	for code, n := range t.codes {
		line("errorstat_%s:count=%d", code, n)
	}
	return b.String()
}
