package fingerprint

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rcbench/adapters"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"Redis 7", "\"test\",\"rps\",\"avg_latency_ms\"\n\"PING_INLINE\",\"83333.34\",\"0.3\"\n\"PING_MBULK\",\"80000.00\",\"0.3\"\n" +
			"\"LPUSH (needed to benchmark LRANGE)\",\"1\",\"1\"\n\"LRANGE_100 (first 100 elements)\",\"30000.00\",\"0.9\"\n\"MSET (10 keys)\",\"1.5\",\"1\"\n",
			"PING_INLINE=83333/s PING_BULK=80000/s LRANGE_100=30000/s MSET=2/s"},
		{"Redis 5", "\"SET\",\"66666.66\"\n\"GET\",\"70000.00\"\n", "SET=66667/s GET=70000/s"},
		{"nothing", "", "no figures in its output"},
		{"only a header", "\"test\",\"rps\"\n", "no figures in its output"},
		{"no number", "\"SET\",\"1.0\"\n\"GET\",\"fast\"\n", `line 2: "fast" is no number of requests a second`},
		{"one field", "SET\n", "line 1 has 1 fields"},
		{"not CSV", "\"SET\n", "quote"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Line(parse([]byte(tt.text))); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

type host struct {
	foreign bool
	cfg     adapters.Config
}

func (h host) Foreign() bool                          { return h.foreign }
func (h host) Config(string) (adapters.Config, error) { return h.cfg, nil }

// TestWhereNoneIsTaken: no key is written on somebody's server, no password is
// shown, and a machine without the program says so.
func TestWhereNoneIsTaken(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, tt := range []struct {
		host host
		want string
	}{
		{host{foreign: true}, "not ours"},
		{host{cfg: adapters.Config{Addr: "127.0.0.1:1", Password: "hunter2"}}, "password"},
		{host{cfg: adapters.Config{Addr: "127.0.0.1:1"}}, "PATH has no redis-benchmark"},
	} {
		_, err := Take(context.Background(), tt.host)
		if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("error %v, want one with %q", err, tt.want)
		}
	}
}

// TestTakeRunsTheProgram, with the server's address and its own defaults.
func TestTakeRunsTheProgram(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"\\\"$*\\\",\\\"7\\\"\"\n"
	if err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	figures, err := Take(context.Background(), host{cfg: adapters.Config{Addr: "127.0.0.1:7"}})
	if err != nil || len(figures) != 1 || figures[0].Test != "-h 127.0.0.1 -p 7 -c 50 -d 3 -n 20000 --csv" || figures[0].PerSecond != 7 {
		t.Errorf("%v, %v; want the arguments and 7 a second", figures, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\"test\",\"rps\"\n\"SET\",\"1\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		figures, err := parse(text)
		if err == nil && len(figures) == 0 {
			t.Error("neither figures nor an error")
		}
	})
}
