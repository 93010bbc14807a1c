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
	var w worker
	if err := requests.Decode(&w.Plan); err != nil {
		return err
	}
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
	if err := w.prepare(lookup); err != nil {
		return reports.Encode(Report{Error: err.Error(), Unsupported: errors.Is(err, adapters.ErrUnsupported)})
	}
	if err := reports.Encode(w.empty()); err != nil {
		return err
	}
	for o := range orders {
		done := make(chan *Report, 1)
		go func() { done <- w.run(o) }()
		select {
		case r := <-done:
			if err := reports.Encode(r); err != nil {
				return err
			}
		case _, ok := <-orders:
			if !ok {
				return nil
			}
			return errors.New("an order in the middle of a storm")
		}
	}
	return nil
}

// A worker is one process.
type worker struct {
	Plan
	driver adapters.Driver
}

// prepare makes one connection.
func (w *worker) prepare(lookup func(...string) ([]adapters.Driver, error)) error {
	drivers, err := lookup(w.Client)
	if err != nil {
		return err
	}
	w.driver = drivers[0]
	if w.TLS {
		w.Config.TLS = &tls.Config{ServerName: w.ServerName, MinVersion: tls.VersionTLS12}
	}
	if w.TLS && w.CA != "" {
		w.Config.TLS.RootCAs = x509.NewCertPool()
		if !w.Config.TLS.RootCAs.AppendCertsFromPEM([]byte(w.CA)) {
			return errors.New("unreadable root certificate")
		}
	}
	return w.attempt()
}

// attempt connects, increments and closes.
func (w *worker) attempt() error {
	ctx := context.Background()
	c, err := w.driver.Dial(ctx, w.Config)
	if err != nil {
		return err
	}
	if _, err := c.Incr(ctx, w.Key); err != nil {
		c.Close()
		return err
	}
	return c.Close()
}

// empty is the report of a process that has not done anything yet.
func (w *worker) empty() Report {
	b, _ := newLatencies().Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	return Report{Latency: b, First: time.Now().UnixNano()}
}

// run takes part in one storm.
func (w *worker) run(o order) *Report {
	lanes := make([]lane, w.Goroutines)
	for i := range lanes {
		lanes[i] = lane{latencies: newLatencies(), classes: map[Class]int64{}}
	}
	var gate, all sync.WaitGroup
	gate.Add(1)
	for i := range lanes {
		all.Go(func() {
			gate.Wait()
			lanes[i].run(w)
		})
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	time.Sleep(time.Until(time.Unix(0, o.Start)))
	cpu := meter.ProcessCPU()
	r := &Report{First: time.Now().UnixNano(), Classes: map[Class]int64{}, latencies: newLatencies()}
	gate.Done()
	all.Wait()
	r.Last = time.Now().UnixNano()
	r.CPU = meter.ProcessCPU() - cpu
	runtime.ReadMemStats(&after)
	r.Bytes, r.Mallocs = int64(after.TotalAlloc-before.TotalAlloc), int64(after.Mallocs-before.Mallocs)
	r.Peak = meter.PeakMemory()
	for i := range lanes {
		lanes[i].report(r)
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
}

func (l *lane) run(w *worker) {
	last := time.Now()
	for range w.Connects {
		err := w.attempt()
		now := time.Now()
		if err == nil {
			l.acknowledged++
			l.latencies.RecordValue(min(now.Sub(last).Nanoseconds(), l.latencies.HighestTrackableValue()))
		} else {
			class := Classify(err)
			if l.classes[class]++; l.example == "" || class == Other {
				l.example = err.Error()
			}
		}
		last = now
	}
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
}
