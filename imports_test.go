// Package rcbench_test keeps the rules about which package may import which.
// They are what lets a client be added with one folder, and a comparison be
// fair: a benchmark body that cannot name a client cannot favour one.
package rcbench_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// clientModules are the modules that the suite compares.
var clientModules = []string{
	"github.com/gomodule/redigo",
	"github.com/mediocregopher/radix",
	"github.com/redis/go-redis",
	"github.com/redis/rueidis",
	"github.com/valkey-io/valkey-go",
}

// A listed is what go list says about a package.
type listed struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string // of Imports, and theirs
}

// direct is what the files of the package import, tests included.
func (p listed) direct() []string {
	all := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
	slices.Sort(all)
	return slices.Compact(all)
}

// A rule says of the packages that it is about which imports they may not have.
type rule struct {
	says      string
	about     func(path string) bool
	imports   func(listed) []string
	forbidden func(path string) bool
}

var rules = []rule{{
	says:      "adapters never import bench, not even indirectly",
	about:     in("rcbench/adapters"),
	imports:   func(p listed) []string { return slices.Concat(p.Deps, p.direct()) },
	forbidden: in("rcbench/bench"),
}, {
	says:      "internal never imports bench, not even indirectly",
	about:     in("rcbench/internal"),
	imports:   func(p listed) []string { return slices.Concat(p.Deps, p.direct()) },
	forbidden: in("rcbench/bench"),
}, {
	says:      "a client module is imported only by the folder of a client",
	about:     func(path string) bool { return !clientFolder(path) && path != "rcbench/adapters/all" },
	imports:   listed.direct,
	forbidden: in(clientModules...),
}, {
	says:      "the contract imports the standard library only",
	about:     func(path string) bool { return path == "rcbench/adapters" },
	imports:   listed.direct,
	forbidden: func(path string) bool { return !standard(path) && path != "rcbench/adapters" },
}, {
	says:      "a benchmark body imports the contract, the list of drivers, internal packages, hdrhistogram and benchfmt only",
	about:     func(path string) bool { return path == "rcbench/bench" },
	imports:   listed.direct,
	forbidden: func(path string) bool { return !standard(path) && !bodies(path) },
}, {
	says:      "the packages below bench do not import the bodies",
	about:     func(path string) bool { return strings.HasPrefix(path, "rcbench/bench/") },
	imports:   listed.direct,
	forbidden: func(path string) bool { return path == "rcbench/bench" },
}, {
	says:      "the packages below bench name no client",
	about:     func(path string) bool { return strings.HasPrefix(path, "rcbench/bench/") },
	imports:   listed.direct,
	forbidden: func(path string) bool { return clientFolder(path) && path != "rcbench/adapters/resp" },
}}

func bodies(path string) bool {
	return path == "rcbench/bench" || path == "rcbench/adapters" || path == "rcbench/adapters/all" ||
		in("rcbench/internal", "rcbench/bench/internal", "github.com/HdrHistogram/hdrhistogram-go", "golang.org/x/perf/benchfmt")(path)
}

// in says whether a package is one of the roots, or below one. A major version
// is below its module.
func in(roots ...string) func(string) bool {
	return func(path string) bool {
		return slices.ContainsFunc(roots, func(root string) bool {
			return path == root || strings.HasPrefix(path, root+"/")
		})
	}
}

func clientFolder(path string) bool {
	name, ok := strings.CutPrefix(path, "rcbench/adapters/")
	return ok && name != "all" && name != "adaptertest" && !strings.HasPrefix(name, "internal/")
}

func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && first != "rcbench"
}

// broken returns "package imports package" for each import that r forbids.
func (r rule) broken(packages []listed) []string {
	var broken []string
	for _, p := range packages {
		if !r.about(p.ImportPath) {
			continue
		}
		for _, path := range r.imports(p) {
			if r.forbidden(path) {
				broken = append(broken, p.ImportPath+" imports "+path)
			}
		}
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

func TestImports(t *testing.T) {
	packages := list(t)
	for _, r := range rules {
		t.Run(r.says, func(t *testing.T) {
			for _, b := range r.broken(packages) {
				t.Error(b)
			}
		})
	}
}

// TestRulesBite breaks each rule once.
func TestRulesBite(t *testing.T) {
	for i, p := range []listed{
		{ImportPath: "rcbench/adapters/redigo", Deps: []string{"rcbench/bench/internal/meter"}},
		{ImportPath: "rcbench/internal/target", XTestImports: []string{"rcbench/bench"}},
		{ImportPath: "rcbench/adapters/adaptertest", TestImports: []string{"github.com/redis/go-redis/v9"}},
		{ImportPath: "rcbench/adapters", Imports: []string{"golang.org/x/sync/errgroup"}},
		{ImportPath: "rcbench/bench", TestImports: []string{"rcbench/adapters/goredis"}},
		{ImportPath: "rcbench/bench/cmd/rcbench", Imports: []string{"rcbench/bench"}},
		{ImportPath: "rcbench/bench/internal/drive", TestImports: []string{"rcbench/adapters/radix"}},
	} {
		for j, r := range rules {
			if broken := r.broken([]listed{p}); (len(broken) > 0) != (i == j) {
				t.Errorf("%s, with imports %q: got %q from the rule that %s", p.ImportPath, p.direct(), broken, r.says)
			}
		}
	}
}

// list asks the go command about the packages of this module.
func list(t *testing.T) []listed {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,TestImports,XTestImports,Deps", "./...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var packages []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages = append(packages, p)
	}
	if len(packages) < 3 {
		t.Fatalf("go list: got %d packages, want those of the module", len(packages))
	}
	return packages
}
