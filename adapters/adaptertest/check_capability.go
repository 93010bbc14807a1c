package adaptertest

import (
	"context"
	"errors"
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
		unknown := cfg
		unknown.Protocol = 7
		c, err := e.connect(ctx, m, unknown, poolSize)
		if err == nil {
			f.addf("%s with Protocol 7: got %T, want an error", m, c)
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
