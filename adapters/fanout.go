package adapters

import (
	"context"
	"sync"
)

// FanOut is the GetAll of a client that pipelines what concurrent callers send
// on one connection, and tells its users to call it from many goroutines: GET
// for each key from a goroutine of its own. values has the length of keys. It
// returns when all have been answered, with the first error in the order of
// keys.
//
// Note: it is here, and not in the drivers, so that all of them pay the same
// for it: one allocation for a call, and one for each goroutine. It takes c and
// not a func, because the method value c.Get would be an allocation more; and
// it starts goroutines with a go statement on a method, because the func that
// WaitGroup.Go takes is wrapped there in another one.
func FanOut(ctx context.Context, c Strings, keys []string, values [][]byte) error {
	f := &fanOut{ctx: ctx, c: c, keys: keys, values: values, at: len(keys)}
	f.wg.Add(len(keys))
	for i := range keys {
		go f.get(i)
	}
	f.wg.Wait()
	return f.first
}

// fanOut is one call of FanOut.
type fanOut struct {
	ctx    context.Context // of the call; here, so that a goroutine carries no more than its index
	c      Strings
	keys   []string
	values [][]byte
	wg     sync.WaitGroup

	mu    sync.Mutex
	first error // that of keys[at]
	at    int
}

func (f *fanOut) get(i int) {
	defer f.wg.Done()
	v, err := f.c.Get(f.ctx, f.keys[i])
	f.values[i] = v
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if i < f.at {
		f.first, f.at = err, i
	}
}
