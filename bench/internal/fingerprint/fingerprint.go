// Package fingerprint describes a machine by the figures that the program
// redis-benchmark, which comes with the server, has on it.
//
// Note: the program writes keys of its own choice, so a server that is not ours
// is never asked. It takes a password on its command line, where everybody can
// read it, so a server that wants one is not asked either.
package fingerprint

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"

	"rcbench/adapters"
)

// A Figure is the throughput of one test of the program.
type Figure struct {
	Test      string // PING_INLINE, LRANGE_100, as the studies write it
	PerSecond float64
}

// program is what is looked for on PATH.
const program = "redis-benchmark"

// ErrNone is wrapped where no fingerprint can be taken; the error says why.
var ErrNone = errors.New("no fingerprint")

// Host is what has to be known of a server.
type Host interface {
	Foreign() bool
	Config(net string) (adapters.Config, error)
}

// requests of each test: enough for a second or less.
const requests = 20_000

// Take runs the program's own list with its defaults, 50 connections and values
// of three bytes. It takes some seconds.
func Take(ctx context.Context, s Host) ([]Figure, error) {
	if s.Foreign() {
		return nil, fmt.Errorf("%w: the server is not ours, and %s writes keys of its own choice", ErrNone, program)
	}
	cfg, err := s.Config("tcp")
	if err != nil {
		return nil, err
	}
	if cfg.Password != "" {
		return nil, fmt.Errorf("%w: the server wants a password, which %s would show to everybody", ErrNone, program)
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("%w: PATH has no %s", ErrNone, program)
	}
	host, port, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, "-h", host, "-p", port, "-c", "50", "-d", "3", "-n", strconv.Itoa(requests), "--csv")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %.200s", program, err, strings.TrimSpace(stderr.String()))
	}
	figures, err := parse(out)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	return figures, nil
}

// parse reads the program's CSV: the test and its requests a second, and since
// Redis 7 a header and latencies.
func parse(text []byte) ([]Figure, error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	var figures []Figure
	for i, rec := range records {
		if len(rec) < 2 {
			return nil, fmt.Errorf("line %d has %d fields, want at least 2", i+1, len(rec))
		}
		if strings.Contains(rec[0], "needed to benchmark") {
			continue // it fills the list of the tests after it
		}
		v, err := strconv.ParseFloat(rec[1], 64)
		if err != nil {
			if i == 0 {
				continue // the header
			}
			return nil, fmt.Errorf("line %d: %q is no number of requests a second", i+1, rec[1])
		}
		figures = append(figures, Figure{Test: test(rec[0]), PerSecond: v})
	}
	if len(figures) == 0 {
		return nil, errors.New("no figures in its output")
	}
	return figures, nil
}

// test is the name of a test without what the program says about it: "LRANGE_100
// (first 100 elements)".
func test(name string) string {
	switch name, _, _ = strings.Cut(name, " ("); name {
	case "PING_MBULK":
		return "PING_BULK" // as it was called at the time of the studies
	default:
		return name
	}
}

// Line is the value of a configuration line: test=requests/s, in the program's
// order, or why there are none.
func Line(figures []Figure, err error) string {
	if err != nil {
		return strings.ReplaceAll(err.Error(), "\n", " ")
	}
	words := make([]string, len(figures))
	for i, f := range figures {
		words[i] = fmt.Sprintf("%s=%.0f/s", f.Test, f.PerSecond)
	}
	return strings.Join(words, " ")
}
