package adaptertest

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
)

// A goroutine inherits the profiler labels of the one that started it. The
// suite labels what it runs, and so knows which goroutines a client has
// started, however many other tests run in this process at the same time.
//
// Note: counting with runtime.NumGoroutine, the usual way, needs a quiet
// process: drivers could not be tested in parallel, and the proxy's own
// goroutines would count.
const (
	tryLabel    = "adaptertest"
	clientLabel = "adaptertest-client"
)

// goroutines returns the stacks of the goroutines with a label, "" if there
// are none.
func goroutines(label, value string) (string, error) {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return "", err
	}
	labelled := fmt.Sprintf("%q:%q", label, value)
	var stacks []string
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, labelled) {
			stacks = append(stacks, stack)
		}
	}
	return strings.Join(stacks, "\n\n"), nil
}

// unlabelled runs f so that no goroutine that it starts counts as the
// client's.
func unlabelled(ctx context.Context, f func()) {
	pprof.SetGoroutineLabels(context.Background())
	defer pprof.SetGoroutineLabels(ctx)
	f()
}
