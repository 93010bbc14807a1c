package verdict

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Rate is a share that was counted, such as false alarms among the
// comparisons of a binary with itself.
type Rate struct {
	K, N int // K of N

	// Low and High are the ends of the Clopper-Pearson interval: it covers
	// the true share at least as often as its confidence says, whatever K
	// and N are. Wilson's is narrower and covers less at rates near 0, which
	// is where a claim of "no more than 5 %" has to hold.
	Low, High float64
}

// NewRate is the Rate of k among n with an interval of the given confidence,
// such as 0.95. It panics unless 0 <= k <= n and 0 < confidence < 1. Without
// observations the interval is 0 to 1.
//
// The ends are quantiles of the beta distribution: (1-confidence)/2 of
// Beta(k, n-k+1) and (1+confidence)/2 of Beta(k+1, n-k) (C. Clopper and
// E. Pearson, Biometrika 26, 1934).
func NewRate(k, n int, confidence float64) Rate {
	if k < 0 || k > n || !(confidence > 0 && confidence < 1) {
		panic(fmt.Sprintf("verdict: NewRate(%d, %d, %v)", k, n, confidence))
	}
	r := Rate{K: k, N: n, Low: 0, High: 1}
	if k > 0 {
		r.Low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile((1 - confidence) / 2)
	}
	if k < n {
		r.High = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile((1 + confidence) / 2)
	}
	return r
}

// Share is K/N, NaN without observations.
func (r Rate) Share() float64 { return float64(r.K) / float64(r.N) }

// String is such as "3 of 200 (1.5 %, 0.3 to 4.3 %)".
func (r Rate) String() string {
	if r.N == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d (%.1f %%, %.1f to %.1f %%)", r.K, r.N, 100*r.Share(), 100*r.Low, 100*r.High)
}

// Floor is the noise floor of a machine as a share, from comparisons of a binary
// with itself by the same plan: the difference that 95 % of them stay within, or
// the largest one when there are fewer than 20. Comparisons without a ratio do
// not count; without any comparison it is 0.
func Floor(aa ...Estimate) float64 {
	var sizes []float64
	for _, e := range aa {
		if !e.NoRatio {
			sizes = append(sizes, math.Abs(math.Log(e.Ratio)))
		}
	}
	if len(sizes) == 0 {
		return 0
	}
	slices.Sort(sizes)
	return math.Expm1(sizes[int(math.Ceil(0.95*float64(len(sizes))))-1])
}
