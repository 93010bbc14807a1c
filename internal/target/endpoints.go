package target

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"rcbench/adapters"
)

// endpoints is where a server listens and what it asks for. It is handed to
// other processes as JSON, so what is not exported here does not arrive there.
type endpoints struct {
	Label string // what errors call the target; never with a password
	TCP   string `json:",omitempty"` // host:port
	Unix  string `json:",omitempty"` // path
	TLS   string `json:",omitempty"` // host:port
	// ServerName is what the certificate of TLS is verified for, with CA
	// (PEM), or with the system's roots where CA is empty.
	ServerName string `json:",omitempty"`
	CA         string `json:",omitempty"`
	Username   string `json:",omitempty"`
	Password   string `json:",omitempty"`
	DB         int    `json:",omitempty"`
}

// config is how to connect over network. Its error completes a sentence that
// begins with the target.
func (e *endpoints) config(network string) (adapters.Config, error) {
	cfg := adapters.Config{Network: "tcp", Username: e.Username, Password: e.Password, DB: e.DB}
	switch network {
	case "tcp":
		cfg.Addr = e.TCP
	case "unix":
		cfg.Network, cfg.Addr = "unix", e.Unix
	case "tls":
		cfg.Addr = e.TLS
	default:
		return adapters.Config{}, fmt.Errorf("has no network %q; known are tcp, unix and tls", network)
	}
	if cfg.Addr == "" {
		lack := map[string]string{"tcp": "no plain tcp port", "unix": "no unix socket", "tls": "no tls port"}
		return adapters.Config{}, errors.New("has " + lack[network])
	}
	if network == "tls" {
		cfg.TLS = &tls.Config{ServerName: e.ServerName, MinVersion: tls.VersionTLS12}
		if e.CA != "" {
			cfg.TLS.RootCAs = x509.NewCertPool()
			if !cfg.TLS.RootCAs.AppendCertsFromPEM([]byte(e.CA)) {
				return adapters.Config{}, errors.New("has an authority without any certificate")
			}
		}
	}
	return cfg, nil
}

// Nets are the networks over which a server can be reached, of tcp, unix and
// tls.
func (e *endpoints) Nets() []string {
	var nets []string
	for _, n := range []struct{ name, addr string }{{"tcp", e.TCP}, {"unix", e.Unix}, {"tls", e.TLS}} {
		if n.addr != "" {
			nets = append(nets, n.name)
		}
	}
	return nets
}

// configAny is the first of unix, tcp and tls that there is.
func (e *endpoints) configAny() (adapters.Config, error) {
	cfg, err := e.config("unix")
	for _, network := range []string{"tcp", "tls"} {
		if err != nil {
			cfg, err = e.config(network)
		}
	}
	return cfg, err
}
