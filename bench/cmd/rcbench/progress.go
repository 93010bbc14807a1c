package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"

	"rcbench/bench/internal/forks"
)

// A progress shows how far a run is: a bar with the time left on a terminal,
// a plain line now and then elsewhere.
type progress struct {
	to   io.Writer
	bar  *progressbar.ProgressBar // nil where there is no terminal
	next time.Duration            // of the next plain line
}

const plainEvery = 15 * time.Second

func newProgress(to io.Writer) *progress {
	p := &progress{to: to}
	if f, ok := to.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		p.bar = progressbar.NewOptions64(1000, progressbar.OptionSetWriter(to), progressbar.OptionSetWidth(30),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false))
	}
	return p
}

func (p *progress) update(s forks.Progress) {
	left := max(s.Budget-s.Elapsed, 0).Round(time.Second)
	text := fmt.Sprintf("fork %d of %d, %v left", s.Fork, s.Forks, left)
	switch {
	case p.bar != nil:
		p.bar.Describe(text)
		p.bar.Set64(min(1000, int64(1000*s.Elapsed/s.Budget)))
	case s.Elapsed >= p.next:
		fmt.Fprintf(p.to, "%s: %s\n", text, s.Comparison)
		p.next = s.Elapsed + plainEvery
	}
}

func (p *progress) done() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
