package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"rcbench/adapters"
)

// A meeting answers no GET before all of them are there, and then the last one
// first: its own key as the value, and an error for a key that begins with "-".
type meeting struct {
	adapters.Strings
	arrived sync.WaitGroup
	turns   []chan struct{}
}

func (m *meeting) Get(_ context.Context, key string) ([]byte, error) {
	m.arrived.Done()
	m.arrived.Wait()
	n, err := strconv.Atoi(key)
	if err != nil {
		return nil, err
	}
	i := max(n, -n)
	<-m.turns[i]
	if i > 0 {
		defer close(m.turns[i-1])
	}
	if n < 0 {
		return nil, errors.New(key)
	}
	return []byte(key), nil
}

func TestFanOut(t *testing.T) {
	keys := []string{"0", "1", "-2", "3", "-4", "5"}
	m := &meeting{}
	m.arrived.Add(len(keys))
	for range keys {
		m.turns = append(m.turns, make(chan struct{}))
	}
	close(m.turns[len(keys)-1])
	values := make([][]byte, len(keys))
	err := adapters.FanOut(t.Context(), m, keys, values)
	if err == nil || err.Error() != "-2" {
		t.Errorf("got error %v, want that of key -2, the first in the order of keys", err)
	}
	if got, want := fmt.Sprintf("%s", values), "[0 1  3  5]"; got != want {
		t.Errorf("values: got %s, want %s", got, want)
	}
	if err := adapters.FanOut(t.Context(), m, nil, nil); err != nil {
		t.Errorf("of no keys: got error %v, want none", err)
	}
}

// A still is a client that allocates nothing.
type still struct{ adapters.Strings }

func (still) Get(context.Context, string) ([]byte, error) { return nil, nil }

func TestFanOutAllocs(t *testing.T) {
	for _, n := range []int{1, 10, 100} {
		keys, values := make([]string, n), make([][]byte, n)
		got := testing.AllocsPerRun(100, func() {
			if err := adapters.FanOut(t.Context(), still{}, keys, values); err != nil {
				t.Fatal(err)
			}
		})
		if want := float64(1 + n); got > want {
			t.Errorf("allocations for %d keys: got %v, want at most %v", n, got, want)
		}
	}
}
