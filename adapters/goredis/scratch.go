package goredis

import (
	"sync"

	"github.com/redis/go-redis/v9"
)

// A scratch lends slices for arguments that go-redis copies before its method
// returns.
type scratch[T any] struct{ pool sync.Pool }

var (
	boxes  scratch[any]
	scores scratch[redis.Z]
)

func (s *scratch[T]) take() *[]T {
	if args, ok := s.pool.Get().(*[]T); ok {
		return args
	}
	return new([]T)
}

func (s *scratch[T]) give(args *[]T) {
	clear(*args)
	*args = (*args)[:0]
	s.pool.Put(args)
}

// box is how go-redis takes any number of values.
func box(values []string) *[]any {
	args := boxes.take()
	for _, v := range values {
		*args = append(*args, v)
	}
	return args
}
