package verdict

import "strings"

// A Direction says which values of a unit are better.
type Direction int

const (
	Neutral Direction = iota // neither, or not known
	Lower                    // less is better
	Higher                   // more is better
)

func (d Direction) String() string {
	switch d {
	case Lower:
		return "lower"
	case Higher:
		return "higher"
	}
	return "neutral"
}

// Better says which values of a unit are better. It knows units as benchmarks
// write them and as benchstat tidies them (ns/op becomes sec/op,
// p99-latency-ns becomes p99-latency-sec):
//
//	*/op, *-ns, *-sec, idle-%   lower    costs, latencies, wasted time
//	errs/s                      lower
//	*/s                         higher   throughput
//	anything else               neutral
//
// Note: benchstat reads better= from Unit lines and does not use it, and tools
// that call any growth a regression report +10 % cmds/s as worse.
func Better(unit string) Direction {
	switch {
	case unit == "errs/s" || unit == "idle-%":
		return Lower
	case strings.HasSuffix(unit, "/op"), strings.HasSuffix(unit, "-ns"), strings.HasSuffix(unit, "-sec"):
		return Lower
	case strings.HasSuffix(unit, "/s"):
		return Higher
	}
	return Neutral
}

// speed says whether the unit is a time or a rate, about which people say
// faster and slower.
func speed(unit string) bool {
	switch unit {
	case "ns/op", "sec/op":
		return true
	case "errs/s":
		return false
	}
	return strings.HasSuffix(unit, "/s") ||
		strings.HasSuffix(unit, "-latency-ns") || strings.HasSuffix(unit, "-latency-sec")
}
