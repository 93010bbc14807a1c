package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rcbench/bench/internal/fingerprint"
	"rcbench/internal/tempdir"
)

const root = "../../.."

// TestEveryRowOfAStudyHasItsCase: the parts of a study have the case of every
// row that has one.
func TestEveryRowOfAStudyHasItsCase(t *testing.T) {
	folder, err := tempdir.New("", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Remove()
	binary, err := build(t.Context(), folder, "bench", tree{})
	if err != nil {
		t.Fatal(err)
	}
	o := &studyOptions{budget: time.Minute, target: "miniredis", output: t.TempDir()}
	for _, s := range studies {
		s, err := s.read(root)
		if err != nil {
			t.Fatal(err)
		}
		groups := map[string]bool{}
		for i := range s.parts {
			r, err := o.settings(s, i, os.Stderr)
			if err != nil {
				t.Fatal(err)
			}
			l, err := r.open(t.Context(), os.Stdout, os.Stderr)
			if err != nil {
				t.Fatal(err)
			}
			list, err := l.list(t.Context(), binary, strings.Join(r.clients(), ","))
			l.close(new(error))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range list.Cases {
				groups[c.Group] = true
			}
		}
		for _, row := range s.rows {
			if row.group != "" && !groups[row.group] {
				t.Errorf("study %s, row %s: no part has the case %s", s.name, row.name, row.group)
			}
		}
	}
}

func TestReadStudyFaults(t *testing.T) {
	const head = "# title\nrow,unit,case,ops,recorded\n"
	for text, want := range map[string]string{
		"":                             "want columns",
		"# title\nrow,case\na,b\n":     "want columns",
		head:                           "rows below",
		head + "a,s,c,1\n":             "wrong number of fields",
		head + "a,s,c,many,1\n":        `row 1: "many" is no number of ops`,
		head + "a,s,c,0,1\n":           `"0" is no number of ops`,
		head + "a,furlongs,c,1,1\n":    `row 1: unknown unit "furlongs"`,
		head + "a,command ms,c,1,1\n":  "row 1",
		head + "a,s,\"c,1,1\n":         "quote",
		head + "a,s,c,1,1\nb,s,c,-,\n": "row 2",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "testdata", "studies", "x.csv")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := (study{name: "x"}).read(dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.csv") {
			t.Errorf("%q: error %v, want one with %q and the file", text, err, want)
		}
	}
}

func TestFigures(t *testing.T) {
	for _, tt := range []struct {
		row  studyRow
		want float64
	}{
		{studyRow{unit: "ops/ms", ops: 1}, 500},
		{studyRow{unit: "requests/s", ops: 1}, 500_000},
		{studyRow{unit: "ms", ops: 50_000}, 100},
		{studyRow{unit: "s", ops: 100}, 0.0002},
		{studyRow{unit: "command ms", ops: 5000, group: "BenchmarkRequest/goroutines=100/keys=1"}, 1000},
	} {
		if got, err := tt.row.figure(2000); err != nil || got != tt.want {
			t.Errorf("2 us/op in %s: %v, %v; want %v", tt.row.unit, got, err, tt.want)
		}
	}
}

// cells makes answers of one client: case, and ns/op of each fork.
func cells(client string, byCase map[string][]float64) *answers {
	a := &answers{clients: []string{client}, cells: map[string]map[string]*cell{}}
	for group, ns := range byCase {
		c := &cell{ns: ns}
		for fork := range ns {
			c.forks = append(c.forks, fork)
		}
		a.cells[group] = map[string]*cell{client: c}
	}
	return a
}

// clients gives n clients what a has of resp, of its first forks only.
func clients(n int, a *answers, forks int) *answers {
	for _, cells := range a.cells {
		c := cells["resp"]
		c.forks, c.ns, c.failed = c.forks[:forks], c.ns[:forks], c.failed[:min(forks, len(c.failed))]
		for i := range n {
			cells[fmt.Sprint("client", i)] = c
		}
	}
	for i := range n {
		a.clients = append(a.clients, fmt.Sprint("client", i))
	}
	return a
}

// TestAnswers: each sentence says what the data say, and where they do not
// decide it says that.
func TestAnswers(t *testing.T) {
	const (
		own    = "BenchmarkGet/conn=own/net=tcp/goroutines=100/value=64B/loop=1"
		shared = "BenchmarkGet/conn=shared/net=tcp/goroutines=100/value=64B/loop=1"
		pool   = "BenchmarkGet/conn=pool/net=tcp/goroutines=100/value=64B/loop=1"
		fresh  = "BenchmarkRequest/conn=fresh/net=tcp/goroutines=100/value=64B/keys=1/setup=stock"
		kept   = "BenchmarkRequest/conn=own/net=tcp/goroutines=100/value=64B/keys=1"
		conn   = "BenchmarkConnectIncr/conn=fresh/net=tcp/goroutines=1/setup=stock"
		incr   = "BenchmarkIncr/conn=own/net=tcp/goroutines=1"
		calm   = "/goroutines=10/procs=10/connects=10/setup=stock"
		full   = "/goroutines=100/procs=10/connects=1/setup=stock/backlog=128"
		tcp    = "BenchmarkStorm/conn=fresh/net=tcp"
		unix   = "BenchmarkStorm/conn=fresh/net=unix"
		fill   = "BenchmarkHashFill/conn=own/net=unix/goroutines=1/how="
		fields = "/members=1000/db=254"
	)
	slow, fast, vague := []float64{200, 204, 202, 198}, []float64{100, 101, 99, 100}, []float64{100, 310, 90, 250}
	opened := func(a *answers, group string, conns float64) *answers {
		a.cells[group]["resp"].conns = conns
		return a
	}
	failing := func(unixShare, tcpShare float64) *answers {
		a := cells("resp", map[string][]float64{tcp + calm: slow, unix + calm: fast, tcp + full: slow, unix + full: slow})
		for group, share := range map[string]float64{unix + full: unixShare, tcp + full: tcpShare} {
			if a.cells[group]["resp"].failed = []float64{share, share * 1.01, share * 0.99, share}; share > 0 {
				a.cells[group]["resp"].classes = []string{"eagain"}
			}
		}
		return a
	}
	for _, tt := range []struct {
		name   string
		answer func(*answers) string
		data   *answers
		want   []string
	}{
		{"shared wins", sharedWins, cells("resp", map[string][]float64{own: slow, shared: fast, pool: slow}), []string{"the shared connection is faster for resp (0.50x the time); against a pool, it is faster for resp"}},
		{"shared loses", sharedWins, cells("resp", map[string][]float64{own: fast, shared: slow, pool: slow}), []string{"is slower for resp (2.01x the time)", "against a pool, it takes the same time for resp"}},
		{"not decided", sharedWins, cells("resp", map[string][]float64{own: vague, shared: fast, pool: vague}), []string{"is neither faster nor slower as far as these data decide"}},
		{"not measured", sharedWins, cells("resp", nil), []string{"was not measured"}},

		{"kept", pconnectKept, opened(opened(cells("resp", map[string][]float64{fresh: slow, kept: fast}), fresh, 1), kept, 0), []string{"by 1.03x", "opened one connection (1 cell)", "none of the other strategies", "keeps what it has"}},
		{"not kept", pconnectKept, opened(opened(cells("resp", map[string][]float64{fresh: slow, kept: fast}), fresh, 1), kept, 0.5), []string{"the counts of 1 cell are missing"}},
		{"not counted", pconnectKept, opened(opened(cells("resp", map[string][]float64{fresh: slow, kept: fast}), fresh, -1), kept, -1), []string{"the counts of 2 cells are missing"}},
		{"only connect", pconnectKept, opened(cells("resp", map[string][]float64{fresh: slow}), fresh, 1), []string{"not counted with both"}},
		{"one fork", pconnectKept, cells("resp", map[string][]float64{fresh: {1}}), []string{"Nothing was measured often enough"}},

		{"connecting", connectingCosts, cells("resp", map[string][]float64{conn: {400, 408, 404, 396}, incr: fast}), []string{"resp 3.0 [", "."}},
		{"connecting, vague", connectingCosts, cells("resp", map[string][]float64{conn: vague, incr: fast}), []string{"do not decide"}},

		{"ways", waysToFill, cells("resp", map[string][]float64{fill + "variadic" + fields: {1, 1, 1}, fill + "pipeline" + fields: {2, 2, 2},
			fill + "loop" + fields: {10, 10, 10.1}, fill + "multi" + fields: {12, 12, 12}, fill + "multipipe" + fields: {3, 3, 3}}),
			[]string{"one command with all fields is faster for resp (0.50x", "the pipeline is faster for resp (0.20x", "in one write is faster for resp (0.25x the time): the study's 33 s were round trips"}},
		{"other order", waysToFill, cells("resp", map[string][]float64{fill + "variadic" + fields: {3, 3, 3}, fill + "pipeline" + fields: {2, 2, 2},
			fill + "loop" + fields: {10, 10, 10}, fill + "multi" + fields: {12, 12, 12}, fill + "multipipe" + fields: {3, 3, 3}}),
			[]string{"one command with all fields is slower for resp"}},
		{"no round trips", waysToFill, cells("resp", map[string][]float64{fill + "variadic" + fields: {3, 3, 3}, fill + "pipeline" + fields: {3, 3, 3},
			fill + "loop" + fields: {10, 10, 10}, fill + "multi" + fields: {3, 3.1, 3}, fill + "multipipe" + fields: {3, 3, 3.1}}),
			[]string{"these data do not decide"}},
		{"a little faster", waysToFill, cells("resp", map[string][]float64{fill + "multi" + fields: {10, 10, 10}, fill + "multipipe" + fields: {8, 8, 8}}),
			[]string{"in one write is faster for resp (0.80x", "these data do not decide"}},
		{"no ways", waysToFill, cells("resp", nil), []string{"Nothing was measured"}},

		{"unix first", failsFirst, failing(0.4, 0), []string{"unix socket instead of TCP is faster for resp", "40.0 % of the attempts by unix and 0.0 %", "unix fails first", "eagain"}},
		{"tcp first", failsFirst, failing(0.1, 0.4), []string{"TCP fails first"}},
		{"clients are no forks", failsFirst, clients(30, failing(0.4, 0.1), 2), []string{"40.2 % of the attempts by unix and 10.1 %", "do not decide which fails first"}},
		{"none fails", failsFirst, failing(0, 0), []string{"do not decide which fails first"}},
		{"as many", failsFirst, failing(0.1, 0.1), []string{"do not decide which fails first"}},
		{"no full queue", failsFirst, cells("resp", map[string][]float64{tcp + calm: slow, unix + calm: vague}), []string{"neither faster nor slower", "was not measured"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.answer(tt.data)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %q, want it to contain %q", got, want)
				}
			}
		})
	}
}

// TestTableHasEveryRow, also those without a figure.
func TestTableHasEveryRow(t *testing.T) {
	for _, s := range studies {
		s, err := s.read(root)
		if err != nil {
			t.Fatal(err)
		}
		a := cells("resp", map[string][]float64{s.rows[0].group: {100, 100, 100}})
		a.figures = []fingerprint.Figure{{Test: "SET", PerSecond: 81234.4}}
		table := s.table(a)
		if len(table) != len(s.rows) {
			t.Errorf("study %s: %d rows, want %d", s.name, len(table), len(s.rows))
		}
		for _, line := range table {
			if len(line) != len(s.header(a)) {
				t.Errorf("study %s, %s: %d cells, want %d", s.name, line[0], len(line), len(s.header(a)))
			}
			if slices.Contains(line, "") {
				t.Errorf("study %s, %s: an empty cell", s.name, line[0])
			}
			if line[0] == "SET" && !slices.Contains(line, "81234") {
				t.Errorf("study %s: no figure of redis-benchmark in %q", s.name, line)
			}
		}
		if last := table[0][len(table[0])-1]; !regexp.MustCompile(`^[0-9.e+-]+ ±0%$`).MatchString(last) {
			t.Errorf("study %s, first row: %q, want a figure with its interval", s.name, last)
		}
	}
}

// TestStudiesRunsAStudy from end to end, with what miniredis cannot serve said.
func TestStudiesRunsAStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP with -short: it takes half a minute")
	}
	md := filepath.Join(t.TempDir(), "studies.md")
	stdout, stderr, code := invoke(t, "studies", "-only=c", "-budget=10s", "-clients=resp,redigo,rueidis", "-target=miniredis", "-o="+t.TempDir(), "-md="+md)
	if code != 0 {
		t.Fatalf("exit status %d\n%s%s", code, stdout, stderr)
	}
	for _, want := range []string{"C. Four PHP stacks", "connect + 10000 SET+GET", "11.445", "Connecting and closing cost", "Warning: ", "rueidis has no figure"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout has no %q\n%s", want, stdout)
		}
	}
	if text, err := os.ReadFile(md); err != nil || strings.Count(string(text), "\n| ") != 5 {
		t.Errorf("Markdown %q, %v; want a head and 4 rows", text, err)
	}
}

func TestStudiesUsage(t *testing.T) {
	for _, tt := range []struct{ arg, want string }{
		{"-only=f", `unknown study "f"; known: a, b, c, d, e`},
		{"-budget=0s", "-budget"},
		{"-clients=jedis", `"jedis"`},
		{"extra", `"extra"`},
	} {
		if stdout, stderr, code := invoke(t, "studies", tt.arg, "-target=miniredis"); code != 2 || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit status %d, want 2\n%s%s", tt.arg, code, stdout, stderr)
		}
	}
}

// TestForksArePaired by their number: a client that died in one of them has one
// figure less.
func TestForksArePaired(t *testing.T) {
	base, arm := &cell{forks: []int{0, 1, 2, 3}, ns: []float64{10, 20, 40, 80}}, &cell{forks: []int{0, 2, 3}, ns: []float64{5, 20, 40}}
	e, err := paired(base, arm)
	if err != nil || e.Forks != 3 || e.Ratio != 0.5 {
		t.Errorf("got %v of %d forks, %v; want 0.5 of 3", e.Ratio, e.Forks, err)
	}
}
