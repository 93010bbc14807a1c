package param

import (
	"fmt"
	"strconv"
	"strings"
)

// A Size is a number of bytes, written as benchstat's @num sorts it: 64B,
// 16KiB, 1MiB.
type Size int64

// MaxSize is the largest value that a Redis server takes by default
// (proto-max-bulk-len).
const MaxSize Size = 512 << 20

var units = []struct {
	name string
	size Size
}{{"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

func (s Size) String() string {
	for _, u := range units {
		if s >= u.size && s%u.size == 0 {
			return strconv.FormatInt(int64(s/u.size), 10) + u.name
		}
	}
	return "0B"
}

// ParseSize reads a positive number with one of the units B, KiB, MiB.
func ParseSize(text string) (Size, error) {
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 32)
		if err != nil || n < 1 || digits[0] == '+' {
			break
		}
		s := Size(n) * u.size
		if s > MaxSize {
			return 0, fmt.Errorf("size %s is over the server's limit of %s", text, MaxSize)
		}
		return s, nil
	}
	return 0, fmt.Errorf("size %q: want a positive number and B, KiB or MiB, such as 64B or 16KiB", text)
}
