package param_test

import (
	"fmt"
	"slices"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"rcbench/bench/internal/param"
)

func TestSizeIsWrittenInTheLargestUnitThatDividesIt(t *testing.T) {
	for size, want := range map[param.Size]string{
		1:            "1B",
		64:           "64B",
		1000:         "1000B",
		1023:         "1023B",
		1024:         "1KiB",
		1025:         "1025B",
		16 << 10:     "16KiB",
		1<<20 - 1024: "1023KiB",
		1 << 20:      "1MiB",
		1<<20 + 1024: "1025KiB",
		512 << 20:    "512MiB",
		512<<20 - 1:  "536870911B",
		0:            "0B",
	} {
		if got := size.String(); got != want {
			t.Errorf("Size(%d) = %s, want %s", size, got, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]param.Size{
		"1B": 1, "64B": 64, "064B": 64, "1KiB": 1 << 10, "16KiB": 16 << 10, "1MiB": 1 << 20,
		"1024B": 1 << 10, "512MiB": param.MaxSize, "536870912B": param.MaxSize,
	} {
		if got, err := param.ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "B", "KiB", "64", "0B", "0MiB", "-1B", "+1B", "1.5KiB", "1_000B", "0x10B",
		"64b", "64KB", "1kiB", "1GiB", " 64B", "64 B", "64B ", "513MiB", "536870913B", "2147483648B",
		"99999999999999999999MiB", "64BB", "64KiBKiB", "∞B"} {
		if got, err := param.ParseSize(text); err == nil || got != 0 {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
	}
}

// TestBenchstatSortsSizes: with @num, by the number of bytes.
func TestBenchstatSortsSizes(t *testing.T) {
	want := []param.Size{1, 64, 1000, 1 << 10, 1025, 16 << 10, 1 << 20, param.MaxSize}
	filter, err := benchproc.NewFilter("*")
	if err != nil {
		t.Fatal(err)
	}
	var parser benchproc.ProjectionParser
	byValue, err := parser.Parse("/value@num", filter)
	if err != nil {
		t.Fatal(err)
	}
	var keys []benchproc.Key
	for _, s := range slices.Backward(want) {
		keys = append(keys, byValue.Project(&benchfmt.Result{Name: benchfmt.Name(fmt.Sprintf("Get/value=%v/loop=1", s))}))
	}
	benchproc.SortKeys(keys)
	for i, k := range keys {
		if got := k.Get(byValue.Fields()[0]); got != want[i].String() {
			t.Errorf("place %d: %s, want %v", i, got, want[i])
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, text := range []string{"64B", "1KiB", "16KiB", "1MiB", "512MiB", "513MiB", "1025B", "0B", "-1B", "+1B", "B", "", "007KiB", "64"} {
		f.Add(text, int64(len(text)))
	}
	f.Fuzz(func(t *testing.T, text string, n int64) {
		s, err := param.ParseSize(text)
		if err != nil && s != 0 {
			t.Errorf("ParseSize(%q) = %d with error %v", text, s, err)
		}
		if err == nil {
			if s < 1 || s > param.MaxSize {
				t.Errorf("ParseSize(%q) = %d, want 1 to %d", text, s, param.MaxSize)
			}
			if again, err := param.ParseSize(s.String()); err != nil || again != s {
				t.Errorf("ParseSize(%q) = %d, %v, want %d, which %q is", s, again, err, s, text)
			}
		}
		if s := param.Size(n); s >= 1 && s <= param.MaxSize {
			if again, err := param.ParseSize(s.String()); err != nil || again != s {
				t.Errorf("ParseSize(%q) = %d, %v, want %d", s, again, err, n)
			}
		}
	})
}
