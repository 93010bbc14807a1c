package target

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// binaries are the servers that "auto" looks for, in this order.
var binaries = []string{"redis-server", "valkey-server"}

// found is what a target turned out to be: a URL, the path of a binary, or,
// with neither, miniredis.
type found struct {
	url  *url.URL
	path string
}

// find looks up target. No error repeats what may be a URL with a password.
func find(target string) (found, error) {
	switch target {
	case "miniredis":
		return found{}, nil
	case "auto":
		for _, name := range binaries {
			if path, err := exec.LookPath(name); err == nil {
				return found{path: path}, nil
			}
		}
		if os.Getenv(EnvRequireServer) != "" {
			return found{}, fmt.Errorf("target auto: neither %s on PATH (%s), and %s forbids miniredis",
				strings.Join(binaries, " nor "), os.Getenv("PATH"), EnvRequireServer)
		}
		return found{}, nil
	case "redis-server", "valkey-server":
		path, err := exec.LookPath(target)
		if err != nil {
			return found{}, fmt.Errorf("target %s: not found on PATH (%s)", target, os.Getenv("PATH"))
		}
		return found{path: path}, nil
	}
	if strings.Contains(target, "://") {
		u, err := parseURL(target)
		if err != nil {
			return found{}, fmt.Errorf("target: %w", err)
		}
		return found{url: u}, nil
	}
	shown := fmt.Sprintf("%q", target)
	if strings.ContainsAny(target, "@:") {
		shown = "(not shown, it may hold a password)"
	}
	if !strings.ContainsRune(target, filepath.Separator) {
		return found{}, fmt.Errorf("target %s: want auto, miniredis, redis-server, valkey-server, "+
			"the path of such a binary, or a URL redis://, rediss:// or unix://", shown)
	}
	path, err := exec.LookPath(target)
	if err != nil {
		// These repeat the path.
		if e, ok := errors.AsType[*exec.Error](err); ok {
			err = e.Err
		}
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err
		}
		return found{}, fmt.Errorf("target %s: %w", shown, err)
	}
	return found{path: path}, nil
}
