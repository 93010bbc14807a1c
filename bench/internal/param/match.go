package param

import (
	"fmt"
	"regexp"
	"strings"
)

// Match compiles a pattern of -bench as package testing reads it: alternatives
// at each | that is not in brackets or parentheses, each split at such a /,
// and each part an unanchored regular expression for the same part of the
// name. An empty pattern matches all.
func Match(pattern string) (func(name string) bool, error) {
	var alternatives [][]*regexp.Regexp
	for _, alternative := range split(pattern) {
		var parts []*regexp.Regexp
		for _, part := range alternative {
			re, err := regexp.Compile(part)
			if err != nil {
				return nil, fmt.Errorf("-bench %q: %w", pattern, err)
			}
			parts = append(parts, re)
		}
		alternatives = append(alternatives, parts)
	}
	return func(name string) bool {
		elems := strings.Split(name, "/")
		// The first alternative that fits decides, also if it has more
		// parts than the name, which then is no benchmark of its own.
		for _, parts := range alternatives {
			if fits(parts, elems) {
				return len(parts) <= len(elems)
			}
		}
		return false
	}, nil
}

func fits(parts []*regexp.Regexp, elems []string) bool {
	for i := range min(len(parts), len(elems)) {
		if !parts[i].MatchString(elems[i]) {
			return false
		}
	}
	return true
}

// split takes a pattern apart into its alternatives and their parts.
func split(pattern string) [][]string {
	var alternatives [][]string
	var parts []string
	brackets, parens, start := 0, 0, 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '\\':
			i++
		case '[':
			brackets++
		case ']':
			brackets = max(0, brackets-1) // one without a [ is a letter
		case '(', ')':
			if brackets == 0 && c == '(' {
				parens++
			} else if brackets == 0 {
				parens--
			}
		case '/', '|':
			if brackets != 0 || parens != 0 {
				break
			}
			parts = append(parts, pattern[start:i])
			start = i + 1
			if c == '|' {
				alternatives = append(alternatives, parts)
				parts = nil
			}
		}
	}
	return append(alternatives, append(parts, pattern[start:]))
}
