package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rcbench/adapters"
)

var capabilityChecks = []Check{{
	Name: "name and version",
	Doc:  "Name is lower-case letters; Version is one of a module, or says that there is none.",
	Run:  checkName,
}, {
	Name: "capabilities are true",
	Doc:  "Lacks names known capabilities, each with a reason, and what is lacking is refused.",
	Run:  checkCapabilities,
}, {
	Name: "what cannot be honoured is refused",
	Doc:  "A Config that asks for nonsense is ErrUnsupported in each mode, and so is a pool of no connections.",
	Run:  checkRefusals,
}, {
	Name: "no setup is stock",
	Doc:  "The zero value of Setup sends what Stock sends.",
	Run:  checkNoSetup,
}}

var (
	validName    = regexp.MustCompile(`^[a-z]+$`)
	validVersion = regexp.MustCompile(`^(v\d+\.\d+\.\d+.*|devel|floor)$`)
)

func checkName(_ context.Context, e *Env) error {
	var f findings
	if name := e.Driver.Name(); !validName.MatchString(name) {
		f.addf("Name: got %q, want a match of %s", name, validName)
	}
	if version := e.Driver.Version(); !validVersion.MatchString(version) {
		f.addf("Version: got %q, want a match of %s", version, validVersion)
	}
	return f.err()
}

func checkCapabilities(ctx context.Context, e *Env) error {
	var f findings
	for c, reason := range e.Driver.Lacks() {
		if !slices.Contains(adapters.Capabilities(), c) {
			f.addf("Lacks: got %q, want one of %q", c, adapters.Capabilities())
		}
		if strings.TrimSpace(reason) == "" {
			f.addf("Lacks: got no reason for %q", c)
		}
	}

	cfg, err := e.config()
	if err != nil {
		return err
	}
	if e.lacks(adapters.CapMultiplex) {
		refused(&f, "Share without "+string(adapters.CapMultiplex))(e.Driver.Share(ctx, cfg))
	}
	for _, m := range e.modes() {
		if e.lacks(adapters.CapRESP3) {
			resp3 := cfg
			resp3.Protocol = 3
			refused(&f, string(m)+" with Protocol 3")(e.connect(ctx, m, resp3, poolSize))
		}
		if e.lacks(adapters.CapTLS) {
			encrypted, err := e.Server.Config("tls")
			if err != nil {
				return err
			}
			encrypted.Setup = adapters.Lean
			refused(&f, string(m)+" with TLS")(e.connect(ctx, m, encrypted, poolSize))
		}
	}

	if !e.lacks(adapters.CapMultiplex) {
		c, err := e.connect(ctx, Share, cfg, 0)
		if err != nil {
			return err
		}
		_, has := c.(adapters.Async)
		if lacks := e.lacks(adapters.CapAsync); has == lacks {
			f.addf("the client of Share: Async implemented %t, lacking %t", has, lacks)
		}
	} else if !e.lacks(adapters.CapAsync) {
		f.addf("Lacks: got no %q, want it with %q", adapters.CapAsync, adapters.CapMultiplex)
	}
	return f.err()
}

func checkRefusals(ctx context.Context, e *Env) error {
	cfg, err := e.config()
	if err != nil {
		return err
	}
	var f findings
	for _, bad := range []struct {
		what  string
		spoil func(*adapters.Config)
	}{
		{"no network", func(cfg *adapters.Config) { cfg.Network = "" }},
		{"network udp", func(cfg *adapters.Config) { cfg.Network = "udp" }},
		{"setup fast", func(cfg *adapters.Config) { cfg.Setup = "fast" }},
		{"protocol 1", func(cfg *adapters.Config) { cfg.Protocol = 1 }},
		{"protocol 4", func(cfg *adapters.Config) { cfg.Protocol = 4 }},
		{"protocol -1", func(cfg *adapters.Config) { cfg.Protocol = -1 }},
		{"a username without a password", func(cfg *adapters.Config) { cfg.Username = "default" }},
		{"database -1", func(cfg *adapters.Config) { cfg.DB = -1 }},
		{"a negative DialTimeout", func(cfg *adapters.Config) { cfg.DialTimeout = -1 }},
		{"a negative IOTimeout", func(cfg *adapters.Config) { cfg.IOTimeout = -1 }},
	} {
		for _, m := range e.modes() {
			changed := cfg
			bad.spoil(&changed)
			refused(&f, string(m)+" with "+bad.what)(e.connect(ctx, m, changed, poolSize))
		}
	}
	for _, conns := range []int{0, -1} {
		refused(&f, fmt.Sprintf("open with %d connections", conns))(e.connect(ctx, Open, cfg, conns))
	}
	return f.err()
}

func checkNoSetup(ctx context.Context, e *Env) error {
	cfg, err := e.config()
	if err != nil {
		return err
	}
	var f findings
	var sent [2]map[string]int64
	for i, setup := range []adapters.Setup{adapters.Stock, ""} {
		cfg.Setup = setup
		var dialed error
		sent[i], err = e.calls(ctx, func() { _, dialed = e.connect(ctx, Dial, cfg, 0) })
		if err != nil {
			return err
		}
		if e.Server.Miniredis() && errors.Is(dialed, adapters.ErrUnsupported) {
			sent[i] = map[string]int64{"refused": 1} // see setups
		} else if dialed != nil {
			return dialed
		}
		delete(sent[i], "ping") // which a stock client may send at any time
	}
	f.equal("commands sent by Dial without a setup", sent[1], sent[0])
	return f.err()
}

// refused finds fault with anything but ErrUnsupported.
func refused(f *findings, input string) func(adapters.Client, error) {
	return func(c adapters.Client, err error) {
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, adapters.ErrUnsupported) {
			f.addf("%s: got error %v, want one that wraps %q", input, err, adapters.ErrUnsupported)
		}
	}
}
