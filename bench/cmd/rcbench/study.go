package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A study is one of the published studies, as its file in testdata/studies has
// it: its rows, what it recorded, and which case of the benchmarks is the
// counterpart of each.
type study struct {
	name     string   // a, b, ...
	title    string   // the first line of the file
	recorded []string // columns of what the study measured
	rows     []studyRow
	parts    []part
	answer   func(*answers) string // what the data say on its open question
}

// A studyRow is a row of a study's table.
type studyRow struct {
	name    string
	unit    string
	group   string   // the case without the client; empty for none
	ops     float64  // that the figure is the total of
	figures []string // as recorded, for each column
}

// A part is one run of a study.
type part struct {
	bench string // the workloads, by name without Benchmark, with | between
	flags string
	forks int
	share float64 // of the whole budget
}

// The studies. Their parts are small enough to end in ten minutes on two cores:
// few forks, and for those of which one turn takes seconds just enough for an
// interval.
var studies = []study{{
	name: "a", answer: sharedWins,
	parts: []part{{"Get|GetAsync", "-conns=own,shared,pool", 3, 0.2}},
}, {
	name: "b", answer: pconnectKept,
	parts: []part{
		{"Set|Request", "-loops=1 -keys=1,2,20,200", 3, 0.2},
		{"Request", "-conns=fresh -goroutines=100 -keys=2000", 3, 0.2},
	},
}, {
	name: "c", answer: connectingCosts,
	parts: []part{{"ConnectIncr|SetGet|SetStrlen|Incr", "-goroutines=1 -nets=tcp -conns=own,fresh", 5, 0.1}},
}, {
	name: "d", answer: waysToFill,
	parts: []part{
		{"HashFill|SetFill|ZSetFill|ListFill", "-nets=unix", 5, 0.1},
		{"Ping|Set|Get|Incr|LPush|LPop|SAdd|SPop|LRange|MSet", "-conns=own -goroutines=50 -values=3B -loops=1", 4, 0.05},
	},
}, {
	name: "e", answer: failsFirst,
	parts: []part{
		{"Storm", "-procs=10 -goroutines=10 -connects=10", 5, 0.1},
		{"Storm", "-procs=10 -goroutines=100 -connects=1 -backlog=128", 3, 0.03},
	},
}}

// read adds to a study what its file has. The file is CSV after a comment
// with the title:
//
//	row,unit,case,ops,<what was recorded>...
func (s study) read(root string) (study, error) {
	path := filepath.Join(root, "testdata", "studies", s.name+".csv")
	text, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	title, _, _ := strings.Cut(string(text), "\n")
	s.title = strings.TrimPrefix(title, "# ")
	r := csv.NewReader(strings.NewReader(string(text)))
	r.Comment = '#'
	records, err := r.ReadAll()
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	const own = 4 // columns before what was recorded
	if len(records) < 2 || len(records[0]) <= own || strings.Join(records[0][:own], ",") != "row,unit,case,ops" {
		return s, fmt.Errorf("%s: want columns row,unit,case,ops and recorded figures, and rows below", path)
	}
	s.recorded = records[0][own:]
	for i, rec := range records[1:] {
		row := studyRow{name: rec[0], unit: rec[1], group: rec[2], figures: rec[own:]}
		if row.ops, err = strconv.ParseFloat(rec[3], 64); err != nil || row.ops <= 0 {
			return s, fmt.Errorf("%s: row %d: %q is no number of ops", path, i+1, rec[3])
		}
		if _, err := row.figure(1); err != nil {
			return s, fmt.Errorf("%s: row %d: %w", path, i+1, err)
		}
		s.rows = append(s.rows, row)
	}
	return s, nil
}

// figure turns the time of an op, in ns, into the unit of the row.
func (r studyRow) figure(nsPerOp float64) (float64, error) {
	switch r.unit {
	case "ops/ms":
		return 1e6 / nsPerOp, nil
	case "requests/s":
		return 1e9 / nsPerOp, nil
	case "ms":
		return r.ops * nsPerOp / 1e6, nil
	case "s":
		return r.ops * nsPerOp / 1e9, nil
	case "command ms":
		// What all workers together waited: ns/op is the time of an op divided
		// by the number of workers.
		workers, err := strconv.Atoi(parameter(r.group, "goroutines"))
		return r.ops * nsPerOp * float64(workers) / 1e6, err
	}
	return 0, fmt.Errorf("unknown unit %q", r.unit)
}

// parameter is the value of a key in the name of a case.
func parameter(name, key string) string {
	for pair := range strings.SplitSeq(name, "/") {
		if k, v, ok := strings.Cut(pair, "="); ok && k == key {
			return v
		}
	}
	return ""
}
