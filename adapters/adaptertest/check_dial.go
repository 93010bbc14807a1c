package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"rcbench/adapters"
)

var dialChecks = []Check{{
	Name: "every transport and setup",
	Doc:  "Commands of every size work over tcp, unix and tls, stock and lean, in each mode.",
	Run:  checkTransports,
}, {
	Name: "protocol",
	Doc:  "Protocol 2 and 3 are what the server then speaks.",
	Run:  checkProtocol,
}, {
	Name:  "database",
	Doc:   "DB is selected on every connection.",
	Modes: anyMode,
	Run:   checkDatabase,
}, {
	Name: "password",
	Doc:  "The right password connects, with and without the default user's name; a wrong one or none fails, and is not shown.",
	Run:  checkPassword,
}, {
	Name: "dial errors name the address",
	Doc:  "No connection where nobody listens: the error says who, and where.",
	Run:  checkRefused,
}, {
	Name: "dial is bounded",
	Doc:  "DialTimeout and the context end a handshake that is not answered.",
	Run:  checkDialTimeout,
}}

func checkTransports(ctx context.Context, e *Env) error {
	setups, err := e.setups(ctx)
	if err != nil {
		return err
	}
	var f findings
	value := strings.Repeat("x", 100_000)
	for _, transport := range []string{"tcp", "unix", "tls"} {
		if transport == "tls" && e.lacks(adapters.CapTLS) {
			e.Logf("without tls: %s", e.Driver.Lacks()[adapters.CapTLS])
			continue
		}
		cfg, err := e.Server.Config(transport)
		if err != nil {
			return err
		}
		for _, setup := range setups {
			cfg.Setup = setup
			for _, m := range e.modes() {
				input := fmt.Sprintf("%s %s %s: ", transport, setup, m)
				c, err := e.connect(ctx, m, cfg, poolSize)
				if !f.ok(input+"connecting", err) {
					continue
				}
				k := e.key(input)
				f.ok(input+"Ping", c.Ping(ctx))
				f.ok(input+"Set", c.Set(ctx, k, value))
				f.server(ctx, e, value, "GET", k)
				v, err := c.Get(ctx, k)
				f.text(input+"Get", v, err, value)
				_, err = c.Get(ctx, k+"missing")
				f.is(input+"Get of a missing key", err, adapters.ErrNil)
				b := c.NewBatch(2)
				b.Incr(k + "n")
				b.Get(k)
				f.ok(input+"ExecTx", b.ExecTx(ctx))
				v, err = b.Bytes(1)
				f.text(input+"Bytes", v, err, value)
				c.Close()
			}
		}
	}
	return f.err()
}

func checkProtocol(ctx context.Context, e *Env) error {
	cfg, err := e.config()
	if err != nil {
		return err
	}
	var f findings
	for _, cfg.Protocol = range []int{2, 3} {
		if cfg.Protocol == 3 && e.lacks(adapters.CapRESP3) {
			e.Logf("without protocol 3: %s", e.Driver.Lacks()[adapters.CapRESP3])
			continue
		}
		for _, m := range e.modes() {
			input := fmt.Sprintf("protocol %d %s: ", cfg.Protocol, m)
			var c adapters.Client
			sent, err := e.calls(ctx, func() { c, err = e.connect(ctx, m, cfg, poolSize) })
			if !f.ok(input+"connecting", err) || c == nil {
				continue
			}
			if cfg.Protocol == 3 && sent["hello"] == 0 {
				f.addf("%sthe server was sent %v, want a hello", input, sent)
			}
			k := e.key(input)
			f.ok(input+"Set", c.Set(ctx, k, "v"))
			v, err := c.Get(ctx, k)
			f.text(input+"Get", v, err, "v")
			_, err = c.Get(ctx, k+"missing")
			f.is(input+"Get of a missing key", err, adapters.ErrNil)
			n, err := c.ZAdd(ctx, k+"zset", adapters.Scored{Member: "m", Score: 0.5})
			f.got(input+"ZAdd", n, err, int64(1))
			z, err := c.ZPopMin(ctx, k+"zset")
			f.got(input+"ZPopMin", z, err, adapters.Scored{Member: "m", Score: 0.5})
			_, err = c.ZPopMin(ctx, k+"zset")
			f.is(input+"ZPopMin of a missing key", err, adapters.ErrNil)
			if e.Server.Miniredis() {
				continue // has no CLIENT INFO
			}
			info, err := c.Do(ctx, "CLIENT", "INFO")
			if want := " resp=" + strconv.Itoa(cfg.Protocol); f.ok(input+"CLIENT INFO", err) && !strings.Contains(fmt.Sprint(info), want) {
				f.addf("%sthe server says %s, want %q in it", input, info, want)
			}
		}
	}
	return f.err()
}

func checkDatabase(ctx context.Context, e *Env) (err error) {
	const db = 3
	cfg, err := e.config()
	if err != nil {
		return err
	}
	cfg.DB = db
	c, err := e.connect(ctx, e.Mode, cfg, poolSize)
	if err != nil {
		return err
	}
	var f findings
	// From all connections of a pool at once.
	keys := make([]string, 8*poolSize)
	var wg sync.WaitGroup
	for i := range keys {
		keys[i] = e.key(strconv.Itoa(i))
		if e.Mode == Dial {
			f.ok("Set", c.Set(ctx, keys[i], "v"))
			continue
		}
		wg.Go(func() { f.ok("Set", c.Set(ctx, keys[i], "v")) })
	}
	wg.Wait()
	f.server(ctx, e, int64(0), append([]string{"EXISTS"}, keys...)...)
	f.store(ctx, e, "SELECT", strconv.Itoa(db))
	defer func() { err = errors.Join(err, second(e.Server.Control().Do(ctx, "SELECT", "0"))) }()
	f.server(ctx, e, int64(len(keys)), append([]string{"EXISTS"}, keys...)...)
	return f.err()
}

func checkPassword(ctx context.Context, e *Env) error {
	if e.Auth == nil {
		e.Logf("not checked: there is no server with a password")
		return nil
	}
	right, err := e.Auth.Config("tcp")
	if err != nil {
		return err
	}
	const secret = "s3cret-and-wrong"
	setups, err := e.setups(ctx)
	if err != nil {
		return err
	}
	var f findings
	for _, right.Setup = range setups {
		for _, m := range e.modes() {
			for _, protocol := range []int{0, 2, 3} {
				if protocol == 3 && e.lacks(adapters.CapRESP3) {
					continue
				}
				input := fmt.Sprintf("%s %s protocol %d ", right.Setup, m, protocol)
				cfg := right
				cfg.Protocol = protocol
				for _, cfg.Username = range []string{"", "default"} {
					c, err := e.connect(ctx, m, cfg, poolSize)
					if f.ok(input+"with the right password of user "+show(cfg.Username), err) {
						f.ok(input+"Ping", c.Ping(ctx))
						c.Close()
					}
				}
				cfg.Password = secret
				for _, cfg.Username = range []string{"", "default"} {
					f.rejected(input+"with a wrong password", cfg, secret)(e.connect(ctx, m, cfg, poolSize))
				}
			}
		}
	}
	// Where no handshake is needed, no password is noticed with the first
	// command only, and an error reply like any other.
	right.Username, right.Password = "", ""
	for _, m := range e.modes() {
		c, err := e.connect(ctx, m, right, poolSize)
		if err == nil {
			err = c.Set(ctx, e.key("k"), "v")
			f.is("Set without a password", err, adapters.ErrReply)
		}
		if err != nil && !strings.Contains(err.Error(), "NOAUTH") {
			f.addf("%s without a password: got error %q, want the server's NOAUTH in it", m, err)
		}
	}
	return f.err()
}

// rejected finds fault with a connection, and with an error that does not say
// who failed and where, or says too much.
func (f *findings) rejected(input string, cfg adapters.Config, secret string) func(adapters.Client, error) {
	return func(_ adapters.Client, err error) {
		if err == nil {
			f.addf("%s: got no error", input)
			return
		}
		if !strings.Contains(err.Error(), cfg.Addr) {
			f.addf("%s: got error %q, want the address %s in it", input, err, cfg.Addr)
		}
		if strings.Contains(err.Error(), secret) {
			f.addf("%s: the error shows the password: %q", input, err)
		}
	}
}

func checkRefused(ctx context.Context, e *Env) error {
	// A port that was free a moment ago.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	closed := l.Addr().String()
	l.Close()

	const secret = "s3cret"
	setups, err := e.setups(ctx)
	if err != nil {
		return err
	}
	var f findings
	for _, cfg := range []adapters.Config{
		{Network: "tcp", Addr: closed, Password: secret},
		{Network: "unix", Addr: filepath.Join("/nonexistent", "redis.sock"), Password: secret},
	} {
		for _, cfg.Setup = range setups {
			for _, m := range e.modes() {
				input := fmt.Sprintf("%s %s %s where nobody listens", cfg.Setup, m, cfg.Network)
				err, late := within(input, async(func() error {
					c, err := e.connect(ctx, m, cfg, poolSize)
					f.rejected(input, cfg, secret)(c, err)
					if err != nil && !strings.Contains(err.Error(), e.Driver.Name()) {
						f.addf("%s: got error %q, want the driver's name in it", input, err)
					}
					return nil
				}))
				f.ok(input, errors.Join(err, late))
			}
		}
	}
	return f.err()
}

// checkDialTimeout connects to a listener that never answers. A database is
// asked for so that every client has something to wait for.
func checkDialTimeout(ctx context.Context, e *Env) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	var f findings
	const brief = 60 * time.Millisecond
	var wg sync.WaitGroup
	for _, m := range e.modes() {
		for _, how := range []string{"DialTimeout", "deadline", "cancelled context"} {
			cfg := adapters.Config{Network: "tcp", Addr: l.Addr().String(), DB: 1, Setup: adapters.Lean}
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			switch how {
			case "DialTimeout":
				cfg.DialTimeout = brief
			case "deadline":
				ctx, cancel = context.WithTimeout(ctx, brief)
				defer cancel()
			default:
				time.AfterFunc(brief, cancel)
			}
			wg.Go(func() {
				input := fmt.Sprintf("%s with a %s, not answered", m, how)
				err, late := within(input, async(func() error { return second(e.connect(ctx, m, cfg, poolSize)) }))
				if f.ok(input, late) {
					f.unknown(input, err)
				}
			})
		}
	}
	wg.Wait()
	return f.err()
}
