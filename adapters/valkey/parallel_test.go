package valkey

import (
	"bytes"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// names are what is called differently here, each with its name in package
// rueidis.
var names = strings.NewReplacer(
	"github.com/valkey-io/valkey-go", "github.com/redis/rueidis",
	"valkey-go", "rueidis",
	"valkey", "rueidis",
	"Valkey", "Redis",
)

// TestParallel keeps this package and package rueidis one program under two
// sets of names, so that what a report shows between the two is a difference of
// the clients. What the comments say may differ.
func TestParallel(t *testing.T) {
	ours, theirs := program(t, "."), program(t, "../rueidis")
	delete(ours, "parallel_test.go")
	for file := range ours {
		if theirs[file] == nil {
			t.Errorf("%s: package rueidis has no such file", file)
		}
	}
	for file, want := range theirs {
		if line := slices.IndexFunc(want, func(l string) bool { return !slices.Contains(ours[file], l) }); line >= 0 {
			t.Errorf("%s: package rueidis has a line that is not here:\n%s", file, want[line])
		} else if got := ours[file]; !slices.Equal(got, want) {
			t.Errorf("%s: got other lines, or another order of lines, than package rueidis has", file)
		}
	}
}

// program returns the lines of the files of a package, as package rueidis would
// name things in them, and without comments.
func program(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, err := fs.Glob(os.DirFS(dir), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string][]string{}
	for _, file := range files {
		source, err := os.ReadFile(dir + "/" + file)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file, names.Replace(string(source)), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		var code bytes.Buffer
		if err := format.Node(&code, fset, parsed); err != nil {
			t.Fatal(err)
		}
		file = names.Replace(file)
		for line := range strings.Lines(code.String()) {
			if line = strings.TrimSpace(line); line != "" {
				lines[file] = append(lines[file], line)
			}
		}
	}
	return lines
}
