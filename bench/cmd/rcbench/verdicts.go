package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"rcbench/bench/internal/forks"
	"rcbench/bench/internal/verdict"
)

// A row is the verdict on one arm of a comparison.
type row struct {
	Comparison, Entry int
	Case              string // of the comparison
	Arm               string
	Value             float64 // typical, in the unit
	FloorRatio        float64 // Value as a multiple of the floor's; 0 where it did not run
	Baseline          bool    // the arm that the others are compared with
	Estimate          verdict.Estimate
	verdict.Decision
}

// judge compares every arm with the baseline of its comparison, and decides
// with p adjusted over the whole table. baseline chooses the entry.
func judge(p forks.Plan, r *forks.Result, v forks.Value, o verdict.Options, baseline func(forks.Comparison) int) ([]row, error) {
	var rows []row
	var ps []float64
	for c, comparison := range p.Comparisons {
		base := baseline(comparison)
		for e, entry := range comparison.Entries {
			if base < 0 || !r.Has(c, base) || !r.Has(c, e) {
				continue
			}
			estimate, err := verdict.Compare(r.Pair(c, base, e, v), o)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", comparison.Name, p.Arms[entry.Arm].Name, err)
			}
			row := row{Comparison: c, Entry: e, Case: comparison.Name, Arm: p.Arms[entry.Arm].Name,
				Value: estimate.Arm, Baseline: e == base, Estimate: estimate}
			if f := floorOf(p, comparison); f >= 0 && r.Has(c, f) {
				toFloor, err := verdict.Compare(r.Pair(c, f, e, v), o)
				if err != nil {
					return nil, err
				}
				row.FloorRatio = toFloor.Ratio
			}
			rows = append(rows, row)
			if e == base {
				ps = append(ps, math.NaN())
			} else {
				ps = append(ps, estimate.P)
			}
		}
	}
	for i, adjusted := range verdict.Holm(ps) {
		if !rows[i].Baseline {
			rows[i].Decision = verdict.Decide(rows[i].Estimate, adjusted, verdict.Better(v.Unit), o)
		}
	}
	return rows, nil
}

// floorOf is the entry of the floor client, or -1.
func floorOf(p forks.Plan, c forks.Comparison) int {
	for e, entry := range c.Entries {
		if strings.HasSuffix(entry.Case, "/client=resp") {
			return e
		}
	}
	return -1
}

// printVerdicts writes the verdict table as text.
func printVerdicts(w io.Writer, rows []row, unit string) {
	fmt.Fprintln(w, "\nVerdicts: each client against the baseline of its case, paired turns, 95 % interval, p after Holm over the table")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	last := ""
	for _, r := range rows {
		if r.Case != last {
			fmt.Fprintf(t, "\n%s\n", strings.TrimPrefix(r.Case, "Benchmark"))
			last = r.Case
		}
		floor := ""
		if r.FloorRatio > 0 {
			floor = fmt.Sprintf("%.2fx floor", r.FloorRatio)
		}
		if r.Baseline {
			fmt.Fprintf(t, "  %s\t%s\tbaseline\t\t\t%s\n", r.Arm, duration(r.Value), floor)
			continue
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\tp=%.3f\t%s\t%s\n", r.Arm, duration(r.Value), interval(r.Estimate), r.P, words(r, unit), floor)
	}
	t.Flush()
}

// interval is the ratio with its interval.
func interval(e verdict.Estimate) string {
	if e.NoRatio {
		return fmt.Sprintf("%.4g against %.4g", e.Arm, e.Base)
	}
	return fmt.Sprintf("%.3fx [%.3f, %.3f]", e.Ratio, e.Low, e.High)
}

// words is the verdict with what a reader needs to act on it.
func words(r row, unit string) string {
	text := r.Verdict.Word(unit)
	if r.Verdict == verdict.Inconclusive && !math.IsInf(r.Decision.Time, 0) && r.Decision.Time > 0 {
		text += fmt.Sprintf(" (about %.1f times as long would decide)", r.Decision.Time)
	}
	if r.Estimate.TailsDiffer {
		text += fmt.Sprintf(", but %.3fx with its slow turns", r.Estimate.Total)
	}
	return text
}

// duration formats nanoseconds with three digits.
func duration(ns float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.size {
			return fmt.Sprintf("%.3g %s", ns/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}
