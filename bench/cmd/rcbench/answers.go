package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"rcbench/bench/internal/storm"
	"rcbench/bench/internal/verdict"
)

// failureClasses are the classes of failures of a storm.
var failureClasses = func() (names []string) {
	for _, c := range storm.Classes() {
		names = append(names, string(c))
	}
	return names
}()

// A contrast is how two cases compare, client by client.
type contrast struct {
	faster, slower, same, undecided []string // clients, with the ratio where it is decided
	all                             int
	longest                         float64 // the high end of the worst interval
}

// paired compares the times of two cells over the forks that both have.
func paired(base, arm *cell) (verdict.Estimate, error) {
	_, b, a := common(base, arm, base.ns, arm.ns)
	return verdict.Compare(verdict.PerFork(b, a), verdict.Options{})
}

// common are those forks that two cells share, and their values in that order.
func common(base, arm *cell, ofBase, ofArm []float64) (forks []int, b, a []float64) {
	for i, fork := range base.forks {
		if j := slices.Index(arm.forks, fork); j >= 0 && i < len(ofBase) && j < len(ofArm) {
			forks, b, a = append(forks, fork), append(b, ofBase[i]), append(a, ofArm[j])
		}
	}
	return forks, b, a
}

// contrast compares the time of case arm with that of base, for each client that
// did both: in a fork the process is the same, so the forks are paired. p is
// adjusted over the clients.
func (a *answers) contrast(base, arm string) contrast {
	type pair struct {
		client string
		verdict.Estimate
	}
	var k contrast
	var pairs []pair
	var ps []float64
	for _, client := range a.clients {
		b, c := a.cells[base][client], a.cells[arm][client]
		if b == nil || c == nil {
			continue
		}
		e, err := paired(b, c)
		if err != nil {
			continue
		}
		pairs = append(pairs, pair{client, e})
		k.longest = max(k.longest, e.High)
		ps = append(ps, e.P)
	}
	k.all = len(pairs)
	for i, p := range verdict.Holm(ps) {
		e := pairs[i].Estimate
		name := fmt.Sprintf("%s (%.2fx the time)", pairs[i].client, e.Ratio)
		switch d := verdict.Decide(e, p, verdict.Lower, verdict.Options{}); d.Verdict {
		case verdict.Faster:
			k.faster = append(k.faster, name)
		case verdict.Slower:
			k.slower = append(k.slower, name)
		case verdict.Same:
			k.same = append(k.same, pairs[i].client)
		default:
			k.undecided = append(k.undecided, pairs[i].client)
		}
	}
	return k
}

// String completes a sentence that begins with what the arm is: "... is faster
// for X, slower for Y; the data do not decide for Z".
func (k contrast) String() string {
	if k.all == 0 {
		return "was not measured"
	}
	var parts []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			parts = append(parts, what+" for "+strings.Join(names, ", "))
		}
	}
	add("is faster", k.faster)
	add("is slower", k.slower)
	add("takes the same time", k.same)
	if len(parts) == 0 {
		return "is neither faster nor slower as far as these data decide"
	}
	text := strings.Join(parts, " and ")
	if len(k.undecided) > 0 {
		text += ", and the data do not decide for " + strings.Join(k.undecided, ", ")
	}
	return text
}

const studyGet = "BenchmarkGet/conn=%s/net=tcp/goroutines=100/value=64B/loop=%d"

// sharedWins answers study A: does the shared connection still win, and against
// a pool?
func sharedWins(a *answers) string {
	own, shared, pool := fmt.Sprintf(studyGet, "own", 1), fmt.Sprintf(studyGet, "shared", 1), fmt.Sprintf(studyGet, "pool", 1)
	return fmt.Sprintf("Against a connection for each goroutine, the shared connection %v; against a pool, it %v (loop 1).",
		a.contrast(own, shared), a.contrast(pool, shared))
}

// pconnectKept answers study B: why did the same row move by 2x, and did
// pconnect keep its connections?
func pconnectKept(a *answers) string {
	var moved []float64
	fresh, kept, others := 0, 0, 0
	for group, clients := range a.cells {
		for _, c := range clients {
			if len(c.ns) > 1 {
				moved = append(moved, slices.Max(c.ns)/slices.Min(c.ns))
			}
			switch conn := parameter(group, "conn"); {
			case conn == "fresh" && math.Abs(c.conns-1) < 1e-9:
				fresh++
			case conn != "fresh" && c.conns == 0:
				kept++
			default:
				others++
			}
		}
	}
	if len(moved) == 0 {
		return "Nothing was measured often enough to say how much a row moves."
	}
	slices.Sort(moved)
	move := fmt.Sprintf("The same row differed between fresh processes by %.2fx in the middle and %.2fx at most (the study saw 2x)", moved[len(moved)/2], moved[len(moved)-1])
	if others == 0 && (fresh == 0 || kept == 0) {
		return move + ", and connections were not counted with both strategies."
	}
	if others > 0 {
		return fmt.Sprintf("%s, and whether connections were kept is not known: the counts of %s are missing or others.", move, count(others, "cell"))
	}
	return fmt.Sprintf("%s, and by the server's count every op of conn=fresh opened one connection (%s) and none of the other strategies did (%s): pconnect's counterpart keeps what it has.",
		move, count(fresh, "cell"), count(kept, "cell"))
}

// connectingCosts answers study C: what does connecting cost in commands?
func connectingCosts(a *answers) string {
	connect := a.cells["BenchmarkConnectIncr/conn=fresh/net=tcp/goroutines=1/setup=stock"]
	incr := a.cells["BenchmarkIncr/conn=own/net=tcp/goroutines=1"]
	var known, unknown []string
	for _, client := range a.clients {
		b, c := incr[client], connect[client]
		if b == nil || c == nil {
			continue
		}
		e, err := paired(b, c)
		if err != nil || e.Low <= 1 || math.IsNaN(e.Low) || e.Forks < verdict.MinForks {
			unknown = append(unknown, client)
			continue
		}
		known = append(known, fmt.Sprintf("%s %.1f [%.1f, %.1f]", client, e.Ratio-1, e.Low-1, e.High-1))
	}
	if len(known) == 0 {
		return "These data do not decide what connecting costs."
	}
	text := "Connecting and closing cost as much as so many INCRs on an open connection: " + strings.Join(known, ", ")
	if len(unknown) > 0 {
		text += "; the data do not decide for " + strings.Join(unknown, ", ")
	}
	return text + "."
}

// waysToFill answers study D: what was in the 33 seconds of MULTI?
func waysToFill(a *answers) string {
	group := func(how string) string {
		return "BenchmarkHashFill/conn=own/net=unix/goroutines=1/how=" + how + "/members=1000/db=254"
	}
	if len(a.cells[group("multi")]) == 0 || len(a.cells[group("multipipe")]) == 0 {
		return "Nothing was measured that could tell the ways to fill a hash apart."
	}
	steps := a.contrast(group("multi"), group("multipipe"))
	text := fmt.Sprintf("Against a pipeline, one command with all fields %v; against a loop, the pipeline %v; against MULTI step by step, the same in one write %v",
		a.contrast(group("pipeline"), group("variadic")), a.contrast(group("loop"), group("pipeline")), steps)
	if steps.all > 0 && len(steps.faster) == steps.all && steps.longest < 0.5 {
		return text + ": the study's 33 s were round trips."
	}
	return text + "; whether the study's 33 s were round trips, these data do not decide."
}

// failsFirst answers study E: is unix or TCP faster to connect, and which fails
// first?
func failsFirst(a *answers) string {
	group := func(net, rest string) string { return "BenchmarkStorm/conn=fresh/net=" + net + rest }
	const calm, full = "/goroutines=10/procs=10/connects=10/setup=stock", "/goroutines=100/procs=10/connects=1/setup=stock/backlog=128"
	text := fmt.Sprintf("Connecting by unix socket instead of TCP %v", a.contrast(group("tcp", calm), group("unix", calm)))
	// Shares of the attempts that failed: of a fork the mean over its clients,
	// because the fork is the unit of evidence, and its clients meet one queue.
	tcp, unix := map[int][]float64{}, map[int][]float64{}
	var classes []string
	for _, client := range a.clients {
		t, u := a.cells[group("tcp", full)][client], a.cells[group("unix", full)][client]
		if t == nil || u == nil {
			continue
		}
		forks, ofTCP, ofUnix := common(t, u, t.failed, u.failed)
		for i, fork := range forks {
			tcp[fork], unix[fork] = append(tcp[fork], ofTCP[i]), append(unix[fork], ofUnix[i])
		}
		for _, class := range append(slices.Clone(t.classes), u.classes...) {
			if !slices.Contains(classes, class) {
				classes = append(classes, class)
			}
		}
	}
	if len(tcp) == 0 {
		return text + "; which of them fails first was not measured."
	}
	var byTCP, byUnix []float64 // of each fork
	for _, fork := range slices.Sorted(maps.Keys(tcp)) {
		byTCP, byUnix = append(byTCP, stat.Mean(tcp[fork], nil)), append(byUnix, stat.Mean(unix[fork], nil))
	}
	meanTCP, meanUnix := stat.Mean(byTCP, nil), stat.Mean(byUnix, nil)
	about := fmt.Sprintf("with 1,000 connecting at once and a queue of 128, %.1f %% of the attempts by unix and %.1f %% of those by TCP failed", 100*meanUnix, 100*meanTCP)
	e, err := verdict.Compare(verdict.PerFork(byTCP, byUnix), verdict.Options{})
	if err != nil || !(e.P < 0.05) || e.Forks < verdict.MinForks {
		return fmt.Sprintf("%s; the data do not decide which fails first: %s.", text, about)
	}
	first, why := "unix", ""
	if meanTCP > meanUnix {
		first = "TCP"
	} else if slices.Equal(classes, []string{string(storm.Again)}) {
		why = ": a unix socket does not wait for a place in the queue, where TCP tries again by itself"
	}
	slices.Sort(classes)
	return fmt.Sprintf("%s; %s fails first: %s (%s)%s.", text, first, about, strings.Join(classes, ", "), why)
}
