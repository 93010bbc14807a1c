package main

import (
	"fmt"
	"math"
	"strings"

	"rcbench/bench/internal/forks"
	"rcbench/bench/internal/verdict"
)

// A table holds the verdicts in one unit.
type table struct {
	value   forks.Value
	against string // what the rows are compared with, for the heading
	options verdict.Options
	rows    []row
}

// A row is the verdict on one arm of a comparison.
type row struct {
	Case       string // of the comparison
	Arm        string
	Baseline   bool    // the arm that the others are compared with
	FloorRatio float64 // the arm's figure as a multiple of the floor client's; 0 where that did not run
	Estimate   verdict.Estimate
	verdict.Decision
	Broken bool // the gate of a diff
}

// judge compares every arm with the baseline of its comparison, and decides
// with p adjusted over the whole table. baseline chooses the entry.
func judge(p forks.Plan, r *forks.Result, v forks.Value, o verdict.Options, baseline func(forks.Comparison) int) (table, error) {
	t := table{value: v, against: "each arm against the baseline of its case", options: o}
	for c, comparison := range p.Comparisons {
		base, floor := baseline(comparison), floorOf(comparison)
		for e := 0; !r.Has(c, base) && e < len(comparison.Entries); e++ {
			base = e // the first that has figures stands in
		}
		for e, entry := range comparison.Entries {
			if !r.Has(c, base) || !r.Has(c, e) {
				continue
			}
			pair := r.Pair(c, base, e, v)
			if len(pair.Base) == 0 {
				continue // they never took part in the same round
			}
			estimate, err := verdict.Compare(pair, o)
			if err != nil {
				return t, fmt.Errorf("%s, %s: %w", comparison.Name, p.Arms[entry.Arm].Name, err)
			}
			row := row{Case: comparison.Name, Arm: p.Arms[entry.Arm].Name, Baseline: e == base, Estimate: estimate}
			if floor >= 0 && r.Has(c, floor) {
				if toFloor, err := verdict.Compare(r.Pair(c, floor, e, v), o); err == nil {
					row.FloorRatio = toFloor.Ratio
				}
			}
			t.rows = append(t.rows, row)
		}
	}
	t.decide()
	return t, nil
}

// decide fills in the decisions, by p adjusted over all rows.
func (t *table) decide() {
	ps := make([]float64, len(t.rows))
	for i, r := range t.rows {
		ps[i] = r.Estimate.P
		if r.Baseline {
			ps[i] = math.NaN() // no test
		}
	}
	for i, adjusted := range verdict.Holm(ps) {
		if r := &t.rows[i]; !r.Baseline {
			r.Decision = verdict.Decide(r.Estimate, adjusted, verdict.Better(t.value.Unit), t.options)
		}
	}
}

// floorOf is the entry of the floor client, or -1.
func floorOf(c forks.Comparison) int {
	for e, entry := range c.Entries {
		if strings.HasSuffix(entry.Case, "/client=resp") {
			return e
		}
	}
	return -1
}
