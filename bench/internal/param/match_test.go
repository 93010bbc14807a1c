package param_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"rcbench/bench/internal/param"
)

const oneName = "BenchmarkGet/conn=own/net=tcp/goroutines=100/value=64B/loop=10/client=goredis"

func TestMatch(t *testing.T) {
	tests := []struct {
		pattern string
		want    bool
	}{
		{"", true},
		{".", true},
		{"Get", true},
		{"BenchmarkGet", true},
		{"^BenchmarkGet$", true},
		{"Get$", true},
		{"^Get", false},
		{"get", false},
		{"(?i)get", true},
		{"Set|Get", true},
		{"Get/conn=own", true},
		{"Get/conn=own$", true},
		{"Get/conn=ow$", false},
		{"Get/net=tcp", false}, // the second part of the pattern is for the second of the name
		{"Get//net=tcp", true},
		{"/", true},
		{"//////", true},
		{"///////", false}, // more parts than the name has
		{"Get/conn=(own|shared)", true},
		{"Get/conn=(shared|pool)", false},
		{"Get/./././././client=goredis$", true},
		{"Get/./././././client=redis", false},
		{"Get[/]conn", false}, // a slash in brackets splits nothing, and no part has one
		{`Get\/conn`, false},
		{"(Get/conn)", false},
	}
	for _, tt := range tests {
		match, err := param.Match(tt.pattern)
		if err != nil {
			t.Errorf("Match(%q): %v", tt.pattern, err)
			continue
		}
		if got := match(oneName); got != tt.want {
			t.Errorf("Match(%q) of %s = %v, want %v", tt.pattern, oneName, got, tt.want)
		}
	}
}

func TestMatchOfABadPattern(t *testing.T) {
	for _, pattern := range []string{"(", "Get/conn=[", "Get/*", ")", "a{2,1}"} {
		if _, err := param.Match(pattern); err == nil || !strings.Contains(err.Error(), "-bench") {
			t.Errorf("Match(%q): error %v, want one that names -bench", pattern, err)
		}
	}
}

// benchAs is the environment variable that gives this binary benchmarks with
// the names of the matrix, which do nothing.
const benchAs = "RCBENCH_PARAM_TEST_BENCH"

func BenchmarkGet(b *testing.B)         { nameOnly(b, reads) }
func BenchmarkGetPipeline(b *testing.B) { nameOnly(b, pipelines) }

func nameOnly(b *testing.B, f *param.Family) {
	if os.Getenv(benchAs) == "" {
		b.Skip("it measures nothing, and is for TestMatchAgreesWithPackageTesting only")
	}
	for _, name := range names(f, resolve(b)) {
		b.Run(name, func(*testing.B) {})
	}
}

// TestMatchAgreesWithPackageTesting lets package testing select from the same
// names by the same pattern.
func TestMatchAgreesWithPackageTesting(t *testing.T) {
	var all []string
	for _, f := range []*param.Family{reads, pipelines} {
		for _, name := range names(f, resolve(t)) {
			all = append(all, "Benchmark"+f.Name+"/"+name)
		}
	}
	for _, pattern := range []string{
		".", "Get", "^BenchmarkGet$", "Pipeline", "GetPipeline$/conn=own", "Get/conn=fresh", "/conn=(own|pool)",
		"//net=tcp/goroutines=100$", "Get/./././loop=1$", "/////depth=10+", "Get/conn=own/.*/100", "/////[12]",
		"Nothing", "Get/Nothing", "Get/conn=own/x", "/////////", `Get\/conn`, "Get[/]conn", "(Get/conn)",
		"Get/conn=[^of]", "(Get|Set)$/conn=own", oneName,
		"Pipeline/conn=own|Get$/conn=fresh", "Get$/conn=own|Pipeline", "Get$/[(c]onn=own/net=tcp", "]|Get$/[/c]onn",
		"Get$/conn=own/././././././.|Get$", "Get$|Pipeline/conn=own",
	} {
		match, err := param.Match(pattern)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range all {
			if match(name) {
				got = append(got, name)
			}
		}
		if want := selected(t, pattern); !slices.Equal(got, want) {
			t.Errorf("Match(%q) selects\n%s\npackage testing\n%s", pattern, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// selected are the benchmarks that package testing runs with -bench=pattern.
func selected(t *testing.T, pattern string) (names []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$", "-test.bench="+pattern, "-test.benchtime=1x", "-test.cpu=1")
	cmd.Env = append(os.Environ(), benchAs+"=1",
		"GORACE=atexit_sleep_ms=0") // with -race, a process would take a second to end
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr.Bytes())
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "ns/op") {
			names = append(names, strings.Fields(line)[0])
		}
	}
	return names
}

func FuzzMatch(f *testing.F) {
	f.Add("Get", oneName)
	f.Add("Get/conn=[/", "a/b/c")
	f.Add(`\`, "")
	f.Add("(/)]/[", "a[b]/(c)")
	f.Add("]/(", `\/`)
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if match, err := param.Match(pattern); err == nil {
			match(name)
		}
		if !utf8.ValidString(name) {
			return // no regular expression can be made of it
		}
		match, err := param.Match(regexp.QuoteMeta(name))
		if err != nil {
			t.Fatalf("the literal name %q: %v", name, err)
		}
		if !match(name) {
			t.Errorf("%q does not match itself", name)
		}
		if !match(name + "/more") {
			t.Errorf("%q does not match what is below it", name)
		}
	})
}
