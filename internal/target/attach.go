package target

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
)

// envAttach is the environment variable in which a server is handed over.
const envAttach = "RCBENCH_ATTACH"

// request is the part of Options that decides whether a server that was handed
// over is the one that is asked for.
type request struct {
	Target   string
	Password string `json:",omitempty"`
}

func (o Options) request() request { return request{o.Target, o.Password} }

// handover is what Env says about a server.
type handover struct {
	Request   request
	Identity  identity
	Endpoints endpoints
	Foreign   bool
}

// Env is an entry for the environment of a child process, NAME=value, that
// makes its Start connect to this server. It contains the password: it must not
// be printed, nor passed on a command line.
func (s *Server) Env() string {
	b, err := json.Marshal(handover{s.request, s.identity, s.endpoints, s.foreign})
	if err != nil {
		panic(err) // strings and numbers only
	}
	return envAttach + "=" + string(b)
}

// attach connects to the server that another process handed over. It returns
// nil if there is none, or if it is not what o asks for.
func attach(ctx context.Context, o Options) (*Server, error) {
	env := os.Getenv(envAttach)
	if env == "" {
		return nil, nil
	}
	var h handover
	if err := json.Unmarshal([]byte(env), &h); err != nil {
		return nil, fmt.Errorf("target: %s is not what Env returned", envAttach) // err may quote it
	}
	if h.Request != o.request() || o.TLS && h.Endpoints.TLS == "" {
		return nil, nil
	}
	s := &Server{request: h.Request, identity: h.Identity, endpoints: h.Endpoints, foreign: h.Foreign}
	cfg, err := s.configAny()
	if err != nil {
		return nil, fmt.Errorf("target %s %w", s.Label, err)
	}
	if s.control, err = dial(ctx, cfg); err != nil {
		return nil, fmt.Errorf("target %s: attaching: %w", s.Label, err)
	}
	return s, nil
}
