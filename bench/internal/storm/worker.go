package storm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"rcbench/adapters"
	"rcbench/bench/internal/meter"
)

// Main must be called first in TestMain or main of every program that starts
// storms. In a process of a storm it does the work and never returns; otherwise
// it does nothing.
func Main(lookup func(names ...string) ([]adapters.Driver, error)) {
	if os.Getenv(env) == "" {
		return
	}
	if err := serve(lookup, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "rcbench: storm: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve reads the plan, and then an order for each storm until the input ends,
// and answers each with a report. The end of the input in the middle of a storm
// ends the process: whoever wanted its report is gone.
func serve(lookup func(...string) ([]adapters.Driver, error), in io.Reader, out io.Writer) error {
	requests, reports := json.NewDecoder(in), json.NewEncoder(out)
	var m message
	if err := requests.Decode(&m); err != nil {
		return err
	}
	w := worker{Plan: m.plan()}
	orders := make(chan order)
	go func() {
		defer close(orders)
		for {
			var o order
			if err := requests.Decode(&o); err != nil {
				return
			}
			orders <- o
		}
	}()
	// during does something, unless the input ends or another order comes.
	during := func(do func() *Report) error {
		done := make(chan *Report, 1)
		go func() { done <- do() }()
		select {
		case r := <-done:
			return reports.Encode(r)
		case _, ok := <-orders:
			if !ok {
				return io.EOF
			}
			return errors.New("an order before the one before it was carried out")
		}
	}
	err := during(func() *Report { return w.prepare(lookup) })
	for o := range orders {
		switch {
		case err != nil:
		case o.Start == 0:
			err = during(w.ready)
		default:
			err = during(func() *Report { return w.run(o) })
		}
		if err != nil {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// A worker is one process.
type worker struct {
	Plan
	driver adapters.Driver
	lanes  []lane // of the next storm
	before runtime.MemStats
}

// prepare makes one connection. A failure that has a class is what the storm is
// about, so that the process tries again for a while.
func (w *worker) prepare(lookup func(...string) ([]adapters.Driver, error)) *Report {
	fail := func(err error) *Report {
		return &Report{Error: err.Error(), Unsupported: errors.Is(err, adapters.ErrUnsupported)}
	}
	drivers, err := lookup(w.Client)
	if err != nil {
		return fail(err)
	}
	w.driver = drivers[0]
	if w.TLS {
		w.Config.TLS = &tls.Config{ServerName: w.ServerName, MinVersion: tls.VersionTLS12}
	}
	if w.TLS && w.CA != "" {
		w.Config.TLS.RootCAs = x509.NewCertPool()
		if !w.Config.TLS.RootCAs.AppendCertsFromPEM([]byte(w.CA)) {
			return fail(errors.New("unreadable root certificate"))
		}
	}
	const patience = 5 * time.Second
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		var l lane
		c, err := l.attempt(w)
		if err == nil {
			c.Close()
			return &Report{}
		}
		if Classify(err) != Again || time.Since(start) > patience {
			return fail(err)
		}
	}
}

// ready makes and collects what the storm would otherwise have to.
func (w *worker) ready() *Report {
	w.lanes = make([]lane, w.Goroutines)
	for i := range w.lanes {
		w.lanes[i] = lane{latencies: newLatencies(), classes: map[Class]int64{}}
	}
	runtime.GC()
	runtime.ReadMemStats(&w.before)
	return &Report{}
}

// run takes part in one storm.
func (w *worker) run(o order) *Report {
	var gate, all sync.WaitGroup
	gate.Add(1)
	for i := range w.lanes {
		all.Go(func() {
			gate.Wait()
			w.lanes[i].run(w)
		})
	}
	time.Sleep(time.Until(time.Unix(0, o.Start)))
	cpu := meter.ProcessCPU()
	r := &Report{First: time.Now().UnixNano(), Classes: map[Class]int64{}, latencies: newLatencies()}
	gate.Done()
	all.Wait()
	r.Last = time.Now().UnixNano()
	r.CPU = meter.ProcessCPU() - cpu
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	r.Bytes, r.Mallocs = int64(after.TotalAlloc-w.before.TotalAlloc), int64(after.Mallocs-w.before.Mallocs)
	r.Peak = meter.PeakMemory()
	for i := range w.lanes {
		w.lanes[i].report(r)
	}
	var err error
	if r.Latency, err = r.latencies.Encode(hdrhistogram.V2CompressedEncodingCookieBase); err != nil {
		r.Error = err.Error()
	}
	return r
}

// A lane is what one goroutine saw.
type lane struct {
	latencies    *hdrhistogram.Histogram
	acknowledged int64
	classes      map[Class]int64
	example      string
	last         int64  // reply to INCR
	wrong        string // a reply that cannot be
}

// run makes the lane's connections, one after another. The time of an attempt
// ends with the reply; closing comes after it, and what is acknowledged is so
// whether or not closing succeeds.
func (l *lane) run(w *worker) {
	for range w.Connects {
		start := time.Now()
		c, err := l.attempt(w)
		took := time.Since(start)
		if err == nil {
			l.acknowledged++
			l.latencies.RecordValue(min(took.Nanoseconds(), l.latencies.HighestTrackableValue()))
			c.Close()
			continue
		}
		class := Classify(err)
		if l.classes[class]++; l.example == "" || class == Other {
			l.example = err.Error()
		}
	}
}

// attempt connects and increments. The caller closes the connection.
func (l *lane) attempt(w *worker) (adapters.Client, error) {
	ctx := context.Background()
	c, err := w.driver.Dial(ctx, w.Config)
	if err != nil {
		return nil, err
	}
	n, err := c.Incr(ctx, w.Key)
	if err == nil && n <= l.last {
		l.wrong = fmt.Sprintf("INCR %s: %d, after %d before", w.Key, n, l.last)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	l.last = n
	return c, nil
}

func (l *lane) report(r *Report) {
	r.latencies.Merge(l.latencies)
	r.Acknowledged += l.acknowledged
	for class, n := range l.classes {
		r.Classes[class] += n
		r.Failed += n
	}
	if l.example != "" {
		r.Example = l.example
	}
	if l.wrong != "" {
		r.Error = l.wrong
	}
}
