package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchfmt"

	"rcbench/bench/internal/turns"
	"rcbench/bench/internal/verdict"
)

// A document is the verdicts of a run in the forms in which they are read: a
// table on a terminal, Markdown for a pull request, JSON for programs.
type document struct {
	title  string
	head   []benchfmt.Config
	lists  []*turns.List // of the builds: base and head, or one
	notes  []string      // what a reader has to know besides
	plan   string
	tables []table
}

// write prints the text, and writes the other forms to the files that are
// named.
func (d document) write(stdout io.Writer, markdown, jsonFile string) error {
	for _, t := range d.tables {
		t.text(stdout)
	}
	if markdown != "" {
		if err := writeFile(markdown, d.markdown()); err != nil {
			return err
		}
	}
	if jsonFile == "" {
		return nil
	}
	b, err := json.MarshalIndent(d.json(), "", "  ")
	if err != nil {
		return err
	}
	return writeFile(jsonFile, append(b, '\n'))
}

func writeFile(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o666)
}

// resolved is the difference that the middle row of a table could have seen.
func (t table) resolved() float64 {
	var all []float64
	for _, r := range t.rows {
		if !r.Baseline && !r.Estimate.NoRatio {
			all = append(all, r.Estimate.Detectable)
		}
	}
	if len(all) == 0 {
		return math.Inf(1)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// text writes a table for a terminal.
func (t table) text(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %s, paired turns, 95 %% interval, p after Holm over the table\n", t.value.Unit, t.against)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	last := ""
	for _, r := range t.rows {
		if r.Case != last {
			fmt.Fprintf(tw, "\n%s\n", strings.TrimPrefix(r.Case, "Benchmark"))
			last = r.Case
		}
		cells := t.cells(r)
		fmt.Fprintf(tw, "  %s\n", strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	tw.Flush()
	fmt.Fprintf(w, "\n%s\n", t.summary())
}

// summary says what the run could have seen.
func (t table) summary() string {
	text := "Could see a difference of " + percent(t.resolved()) + " in the middle row (80 % power, before Holm)."
	if t.options.Floor > 0 {
		text += fmt.Sprintf(" Noise floor by the A/A arm: %s.", percent(t.options.Floor))
	}
	return text
}

// cells are the columns of a row: arm, value, ratio, p, verdict, floor.
func (t table) cells(r row) []string {
	floor := ""
	if r.FloorRatio > 0 {
		floor = fmt.Sprintf("%.2fx floor", r.FloorRatio)
	}
	value := figure(r.Estimate.Arm, t.value.Unit)
	if r.Baseline {
		return []string{r.Arm, value, "baseline", "", "", floor}
	}
	return []string{r.Arm, value, interval(r.Estimate), fmt.Sprintf("p=%.3f", r.P), t.words(r), floor}
}

// markdown is the document for the summary or the comments of a pull request.
func (d document) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "## %s\n\n", d.title)
	for _, note := range d.notes {
		fmt.Fprintf(&b, "%s\n\n", note)
	}
	for _, t := range d.tables {
		fmt.Fprintf(&b, "### %s\n\n| case | arm | %s | ratio [95 %%] | p (Holm) | verdict | floor |\n|---|---|---|---|---|---|---|\n", t.value.Unit, t.value.Unit)
		for _, r := range t.rows {
			cells := t.cells(r)
			cells[3] = strings.TrimPrefix(cells[3], "p=")
			fmt.Fprintf(&b, "| %s | %s |\n", strings.TrimPrefix(r.Case, "Benchmark"), strings.Join(cells, " | "))
		}
		fmt.Fprintf(&b, "\n%s\n\n", t.summary())
	}
	fmt.Fprintf(&b, "<details><summary>How it was measured</summary>\n\n- %s\n", d.plan)
	for _, c := range d.head {
		fmt.Fprintf(&b, "- %s: %s\n", c.Key, c.Value)
	}
	fmt.Fprintf(&b, "- clients: %s\n\n</details>\n", d.clients())
	return b.Bytes()
}

// clients names each client with its version, or both where the builds differ.
func (d document) clients() string {
	var names []string
	versions := map[string][]string{}
	for _, l := range d.lists {
		for _, c := range l.Clients {
			if versions[c.Name] == nil {
				names = append(names, c.Name)
			}
			if !slices.Contains(versions[c.Name], c.Version) {
				versions[c.Name] = append(versions[c.Name], c.Version)
			}
		}
	}
	for i, n := range names {
		names[i] = n + " " + strings.Join(versions[n], " against ")
	}
	return strings.Join(names, ", ")
}

// json is the document as a value for encoding/json, which has no infinity:
// what is not known is null.
func (d document) json() any {
	number := func(v float64) any {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		return v
	}
	config := map[string]string{}
	for _, c := range d.head {
		config[c.Key] = string(c.Value)
	}
	rows := []map[string]any{}
	for _, t := range d.tables {
		for _, r := range t.rows {
			rows = append(rows, map[string]any{
				"case": r.Case, "arm": r.Arm, "unit": t.value.Unit, "baseline": r.Baseline,
				"value": number(r.Estimate.Arm), "base": number(r.Estimate.Base),
				"ratio": number(r.Estimate.Ratio), "low": number(r.Estimate.Low), "high": number(r.Estimate.High),
				"p": number(r.P), "detectable": number(r.Estimate.Detectable), "forks": r.Estimate.Forks,
				"verdict": t.verdict(r), "time-factor": number(r.Decision.Time),
				"floor-ratio": number(r.FloorRatio), "tails-differ": r.Estimate.TailsDiffer, "gate-broken": r.Broken,
			})
		}
	}
	return map[string]any{"title": d.title, "config": config, "clients": d.clients(), "plan": d.plan, "notes": d.notes, "rows": rows}
}

// interval is the ratio with its interval.
func interval(e verdict.Estimate) string {
	if e.NoRatio {
		return fmt.Sprintf("%.4g against %.4g", e.Arm, e.Base)
	}
	return fmt.Sprintf("%.3fx [%.3f, %.3f]", e.Ratio, e.Low, e.High)
}

func (t table) verdict(r row) string {
	if r.Baseline {
		return ""
	}
	return r.Verdict.Word(t.value.Unit)
}

// words is the verdict with what a reader needs to act on it.
func (t table) words(r row) string {
	text := t.verdict(r)
	if r.Estimate.Forks < verdict.MinForks {
		return fmt.Sprintf("%s (%s cannot decide; at least %d)", text, count(r.Estimate.Forks, "fork"), verdict.MinForks)
	}
	if r.Verdict == verdict.Inconclusive && !math.IsInf(r.Decision.Time, 0) && r.Decision.Time > 0 {
		text += fmt.Sprintf(" (about %.1f times as long would decide)", r.Decision.Time)
	}
	if r.Estimate.TailsDiffer {
		text += fmt.Sprintf(", but %.3fx with its slow turns", r.Estimate.Total)
	}
	if r.Broken {
		text += ", GATE BROKEN"
	}
	return text
}

// figure formats a value of a unit: nanoseconds as time, the rest as it is.
func figure(v float64, unit string) string {
	if !strings.HasSuffix(unit, "ns/op") {
		return fmt.Sprintf("%.4g", v)
	}
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if v >= u.size {
			return fmt.Sprintf("%.3g %s", v/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", v)
}
