package verdict

import (
	"math"
	"slices"
)

// Holm adjusts the p values of a table so that the chance of any false alarm in
// it is at most Alpha, whether or not the rows depend on each other (rows that
// share their base do): sorted ascending, p(i) becomes the largest of
// (m-k+1) p(k) for k <= i, at most 1, for m values (S. Holm, A simple
// sequentially rejective multiple test procedure, Scand. J. Statist. 6, 1979).
//
// The result is in the order of p, which is not modified. A NaN is a row
// without a test: it stays NaN and does not count.
func Holm(p []float64) []float64 {
	adjusted := slices.Clone(p)
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	var highest float64
	for k, i := range order {
		highest = max(highest, min(1, float64(len(order)-k)*p[i]))
		adjusted[i] = highest
	}
	return adjusted
}
