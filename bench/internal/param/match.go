package param

import (
	"fmt"
	"regexp"
	"strings"
)

// Match compiles a pattern of -bench as package testing reads it: split at the
// slashes that are not in brackets, and each part an unanchored regular
// expression for the same part of the name. An empty pattern matches all.
func Match(pattern string) (func(name string) bool, error) {
	var parts []*regexp.Regexp
	if pattern != "" {
		for _, part := range splitPattern(pattern) {
			re, err := regexp.Compile(part)
			if err != nil {
				return nil, fmt.Errorf("-bench %q: %w", pattern, err)
			}
			parts = append(parts, re)
		}
	}
	return func(name string) bool {
		elems := strings.Split(name, "/")
		if len(parts) > len(elems) {
			return false
		}
		for i, re := range parts {
			if !re.MatchString(elems[i]) {
				return false
			}
		}
		return true
	}, nil
}

func splitPattern(pattern string) []string {
	var parts []string
	depth, start := 0, 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		case '/':
			if depth <= 0 {
				parts = append(parts, pattern[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, pattern[start:])
}
