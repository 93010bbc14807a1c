package verdict

import (
	"math"
	"math/rand/v2"
)

// A machine makes turns like those of a shared computer. Standard deviations
// are of logs: 0.01 is 1 %.
type machine struct {
	name string

	bias  float64 // of a process, for life
	noise float64 // of a turn, independent
	phase float64 // of a process from turn to turn, AR(1) with coefficient 0.6
	drift float64 // step per turn of the machine's slow walk, back to normal in 2000 turns
	steps float64 // chance per turn that the machine jumps to another speed (sd 0.2)
	tails float64 // chance that a turn takes 2 to 10 times as long
	burst float64 // chance that a busy spell begins: 5 turns on average, each x1 to x2

	ragged bool // forks of a third to all of the rounds
}

// but returns the machine with a change.
func (m machine) but(name string, change func(*machine)) machine {
	m.name = name
	change(&m)
	return m
}

// The standard machine has single samples that vary by about 30 % and round log
// ratios with a standard deviation of 12 % where no tail or step meets them.
var (
	calm     = machine{name: "calm", bias: 0.01, noise: 0.05}
	standard = machine{name: "standard", bias: 0.01, noise: 0.07, phase: 0.04,
		drift: 0.008, steps: 0.003, tails: 0.02}
	biased   = standard.but("bias 2 %", func(m *machine) { m.bias = 0.02 })
	drifting = standard.but("drift", func(m *machine) { m.drift = 0.03; m.steps = 0.02 })
	tailed   = standard.but("tails 10 %", func(m *machine) { m.tails = 0.1 })
	busy     = standard.but("autocorrelated", func(m *machine) { m.phase = 0.1; m.burst = 0.01 })
	ragged   = standard.but("ragged", func(m *machine) { m.ragged = true })

	machines = []machine{calm, standard, biased, drifting, tailed, busy, ragged}
)

// A world is a machine that is running.
type world struct {
	machine
	*rand.Rand
	walk, level float64
	busy        bool
}

func (m machine) run(seed1, seed2 uint64) *world {
	return &world{machine: m, Rand: rand.New(rand.NewPCG(seed1, seed2))}
}

// turn is how long the next turn takes, in logs, apart from the process.
func (w *world) turn() float64 {
	w.walk += w.drift*w.NormFloat64() - w.walk/2000
	t := w.noise * w.NormFloat64()
	// One draw decides both rare events.
	switch u := w.Float64(); {
	case u < w.steps:
		w.level = 0.2 * w.NormFloat64()
	case u < w.steps+w.tails:
		t += math.Log(2 + 8*w.Float64())
	}
	t += w.walk + w.level
	if w.burst > 0 {
		if w.busy {
			w.busy = w.Float64() < 0.8
		} else {
			w.busy = w.Float64() < w.burst
		}
		if w.busy {
			t += math.Log(1 + w.Float64())
		}
	}
	return t
}

// pair measures an arm that takes ratio times as long as base.
func (w *world) pair(forks, rounds int, ratio float64) Pair {
	return w.table(forks, rounds, 1, ratio)[0]
}

// table measures arms that take ratio times as long as their common base, in
// rounds of all of them in random order.
func (w *world) table(forks, rounds, arms int, ratio float64) []Pair {
	const coefficient = 0.6
	innovation := math.Sqrt(1-coefficient*coefficient) * w.phase
	pairs := make([]Pair, arms)
	bias := make([]float64, arms+1)
	phase := make([]float64, arms+1)
	order := make([]int, arms+1)
	for range forks {
		n := rounds
		if w.ragged {
			n = max(2, rounds/3+w.IntN(rounds-rounds/3+1))
		}
		turns := make([][]float64, arms+1)
		for a := range turns {
			order[a] = a
			turns[a] = make([]float64, 0, n)
			bias[a] = w.bias * w.NormFloat64()
			if a > 0 {
				bias[a] += math.Log(ratio)
			}
			phase[a] = w.phase * w.NormFloat64()
		}
		for range n {
			w.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			for _, a := range order {
				phase[a] = coefficient*phase[a] + innovation*w.NormFloat64()
				turns[a] = append(turns[a], math.Exp(w.turn()+bias[a]+phase[a]))
			}
		}
		for a := range pairs {
			pairs[a].Base = append(pairs[a].Base, turns[0])
			pairs[a].Arm = append(pairs[a].Arm, turns[a+1])
		}
	}
	return pairs
}

// first is what the first forks and rounds of p are.
func (p Pair) first(forks, rounds int) Pair {
	cut := func(all [][]float64) [][]float64 {
		some := make([][]float64, forks)
		for i := range some {
			some[i] = all[i][:min(rounds, len(all[i]))]
		}
		return some
	}
	return Pair{Base: cut(p.Base), Arm: cut(p.Arm)}
}
