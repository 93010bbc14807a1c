package bench

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"rcbench/adapters"
	"rcbench/bench/internal/corpus"
	"rcbench/bench/internal/param"
)

// BenchmarkSetStrlen: one op is a SET and a STRLEN of each of 2,700 values
// with the sizes of a manual's pages, after connecting with conn=fresh: the
// third test of the study of four PHP stacks, in which one client was a hundred
// times as slow as the others. The text is made up.
func BenchmarkSetStrlen(b *testing.B) { setStrlen.run(b) }

var setStrlen = workload{
	Family: param.Family{
		Name:        "SetStrlen",
		Conns:       []string{param.Own, param.Fresh},
		Nets:        []string{"tcp"},
		Goroutines:  []int{1},
		FreshSetups: stock,
	},
	claims: func(c param.Case) map[string]int64 {
		return map[string]int64{"set": int64(len(pages)), "strlen": int64(len(pages))}
	},
	worker: func(s *session, id int) exchange { return setAndMeasure(id, pages) },
	warmer: func(s *session, id int) exchange { return setAndMeasure(id, pages[:1]) },
}

//go:embed testdata/man1-sizes.txt
var pageSizes string

// pages are the sizes of the pages, in bytes.
var pages = sizes(pageSizes)

// sizes reads a number a line; a line that begins with # is a comment.
func sizes(text string) (list []int) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		n, err := strconv.Atoi(line)
		if err != nil {
			panic("testdata/man1-sizes.txt: " + err.Error())
		}
		list = append(list, n)
	}
	return list
}

func setAndMeasure(id int, pages []int) exchange {
	largest := 0
	for _, size := range pages {
		largest = max(largest, size)
	}
	text := corpus.Text(largest + len(pages))
	keys := make([]string, len(pages))
	for i := range keys {
		keys[i] = corpus.Prefix + "page:" + strconv.Itoa(id) + ":" + strconv.Itoa(i)
	}
	return func(ctx context.Context, c adapters.Client) error {
		for i, size := range pages {
			if err := c.Set(ctx, keys[i], text[i:i+size]); err != nil {
				return fmt.Errorf("SET %s: %w", keys[i], err)
			}
			n, err := c.Strlen(ctx, keys[i])
			if err != nil {
				return fmt.Errorf("STRLEN %s: %w", keys[i], err)
			}
			if n != int64(size) {
				return fmt.Errorf("STRLEN %s: %d, want %d", keys[i], n, size)
			}
		}
		return nil
	}
}
