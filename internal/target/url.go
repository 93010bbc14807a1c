package target

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// parseURL parses the URL of a server. Its errors quote nothing but the scheme:
// url.Parse repeats the whole URL, and its inner errors parts of it, which of a
// password that is not percent-encoded (p%zz, pa/ss) are parts of the password.
func parseURL(s string) (*url.URL, error) {
	scheme, _, _ := strings.Cut(s, "://")
	switch scheme {
	case "redis", "rediss", "unix":
	default:
		return nil, errors.New("unknown URL scheme; known are redis://, rediss:// and unix://")
	}
	u, err := url.Parse(s)
	if err != nil || u.Fragment != "" || u.Opaque != "" {
		return nil, fmt.Errorf("the %s:// URL is not valid; special characters of its password must be percent-encoded", scheme)
	}
	return u, nil
}

// parseGuest is where the server of u listens. Its errors, too, quote nothing: in
// a URL that is not as it should be, any part may be one of the password's.
func parseGuest(u *url.URL) (endpoints, error) {
	var e endpoints
	if u.User != nil {
		pass, ok := u.User.Password()
		if !ok {
			// What is there may well be a password without its colon.
			return e, errors.New("has a user but no password; a password alone is written redis://:password@host")
		}
		e.Username, e.Password = u.User.Username(), pass
	}

	query := u.Query()
	db := query.Get("db")
	query.Del("db")
	if len(query) > 0 {
		return e, errors.New("has a query parameter other than db")
	}
	if u.Scheme != "unix" {
		if path := strings.Trim(u.Path, "/"); path != "" {
			db = path
		}
	}
	if db != "" {
		n, err := strconv.Atoi(db)
		if err != nil || n < 0 {
			return e, errors.New("has a database that is not a number")
		}
		e.DB = n
	}

	if u.Scheme == "unix" {
		if u.Host != "" || u.Path == "" {
			return e, errors.New("has no absolute path: write unix:///path/of/socket")
		}
		e.Unix = u.Path
		e.Label = (&url.URL{Scheme: "unix", Path: u.Path}).String()
		return e, nil
	}
	host, port := u.Hostname(), u.Port()
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "6379"
	}
	addr := net.JoinHostPort(host, port)
	e.Label = u.Scheme + "://" + addr
	if u.Scheme == "redis" {
		e.TCP = addr
		return e, nil
	}
	e.TLS, e.ServerName = addr, host
	if file := os.Getenv(EnvCACert); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return e, fmt.Errorf("cannot be verified: %s: %w", EnvCACert, err)
		}
		e.CA = string(pem)
	}
	return e, nil
}
