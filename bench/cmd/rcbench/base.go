package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rcbench/adapters/all"
	"rcbench/internal/tempdir"
)

// A base is the build that a diff compares with.
type base struct {
	tree
	what  string   // for the reader: a commit, or modules with versions
	lacks []string // clients that do not build there, with the reason
}

// checkout makes a base of a commit: a git worktree in folder, which remove
// takes away again.
func checkout(ctx context.Context, folder *tempdir.Folder, rev string) (b base, remove func(), err error) {
	here := tree{}
	if err := here.prune(ctx); err != nil {
		return b, nil, err
	}
	commit, err := here.run(ctx, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return b, nil, fmt.Errorf("-base: %q is no commit of this repository", rev)
	}
	dir := folder.File("base")
	// Not to be interrupted: a worktree of which git was killed is locked, and
	// stays in the list.
	remove = func() { here.run(context.WithoutCancel(ctx), "git", "worktree", "remove", "--force", dir) }
	if _, err := here.run(context.WithoutCancel(ctx), "git", "worktree", "add", "--detach", dir, commit); err != nil {
		remove()
		return b, nil, fmt.Errorf("-base %s: %w", rev, err)
	}
	if ctx.Err() != nil {
		remove()
		return b, nil, ctx.Err()
	}
	prefix, err := here.run(ctx, "git", "rev-parse", "--show-prefix")
	if err == nil {
		b = base{tree: tree{dir: filepath.Join(dir, prefix)}, what: fmt.Sprintf("%s (%.10s)", rev, commit)}
		if _, statErr := os.Stat(filepath.Join(b.dir, "bench")); statErr != nil {
			err = fmt.Errorf("-base %s: that commit has no benchmarks (no folder bench)", rev)
		}
	}
	if err != nil {
		remove()
		return b, nil, err
	}
	return b, remove, nil
}

// prune takes away the worktrees of runs that were killed: their folders are
// gone by now. One that was killed with git at work on it is locked.
func (t tree) prune(ctx context.Context) error {
	list, err := t.run(ctx, "git", "worktree", "list", "--porcelain")
	if err != nil {
		return err
	}
	for line := range strings.Lines(list) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree ")
		if !ok || !tempdir.Ours(filepath.Dir(path)) {
			continue
		}
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			t.run(ctx, "git", "worktree", "unlock", path) // an error says that it is not locked
		}
	}
	_, err = t.run(ctx, "git", "worktree", "prune")
	return err
}

// withModules makes a base of this commit with other versions of modules: a
// go.mod of its own in folder, and a list of clients without those that do not
// build with these versions.
func withModules(ctx context.Context, folder *tempdir.Folder, modules []string) (base, error) {
	b := base{what: "this commit with " + strings.Join(modules, ", ")}
	root, err := moduleRoot(ctx)
	if err != nil {
		return b, err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return b, err
		}
		if err := os.WriteFile(folder.File(name), text, 0o666); err != nil {
			return b, err
		}
	}
	b.modfile = folder.File("go.mod")
	for _, m := range modules {
		if path, version, ok := strings.Cut(m, "@"); !ok || path == "" || version == "" {
			return b, fmt.Errorf("%w: -base-mod: %q, want module@version", errUsage, m)
		}
	}
	if _, err := b.run(ctx, "go", append([]string{"get", "-modfile=" + b.modfile}, modules...)...); err != nil {
		return b, fmt.Errorf("-base-mod: %w", err)
	}
	return b, b.dropBroken(ctx, folder, root)
}

// dropBroken takes the clients that do not build out of the list of drivers,
// by an overlay of its source: an older version of a library may lack what an
// adapter uses, which is no reason not to compare the other clients.
func (b *base) dropBroken(ctx context.Context, folder *tempdir.Folder, root string) error {
	source := filepath.Join(root, "adapters", "all", "all.go")
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	kept := 0
	for _, d := range all.Drivers() {
		_, err := b.goCommand(ctx, "build", "rcbench/adapters/"+d.Name())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			kept++
			continue
		}
		b.lacks = append(b.lacks, fmt.Sprintf("%s does not build with %s: %s", d.Name(), b.what, lastLine(err)))
		text = without(text, d.Name())
	}
	if kept == 0 {
		return fmt.Errorf("no client builds with %s:\n%s", b.what, strings.Join(b.lacks, "\n"))
	}
	if len(b.lacks) == 0 {
		return nil
	}
	replaced := folder.File("all.go")
	if err := os.WriteFile(replaced, text, 0o666); err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {source: replaced}})
	if err != nil {
		return err
	}
	b.overlay = folder.File("overlay.json")
	return os.WriteFile(b.overlay, overlay, 0o666)
}

// without removes the lines of a client from the source of the list of
// drivers, where it has one for its import and one for its driver.
func without(source []byte, client string) []byte {
	var kept []string
	for line := range strings.Lines(string(source)) {
		code := strings.TrimSpace(line)
		if code != `"rcbench/adapters/`+client+`"` && code != client+".Driver," {
			kept = append(kept, line)
		}
	}
	return []byte(strings.Join(kept, ""))
}

func lastLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return lines[len(lines)-1]
}

// changed are the clients whose modules have other versions in the two trees,
// in the order of names.
func changed(ctx context.Context, a, b tree, names []string) ([]string, error) {
	var list []string
	for _, name := range names {
		var of [2]string
		for i, t := range []tree{a, b} {
			modules, err := t.modules(ctx, name)
			if err != nil {
				return nil, err
			}
			of[i] = modules
		}
		if of[0] != of[1] {
			list = append(list, name)
		}
	}
	return list, nil
}

// modules are the modules with versions that a client is built from.
func (t tree) modules(ctx context.Context, client string) (string, error) {
	out, err := t.goCommand(ctx, "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{with .Replace}} => {{.Path}} {{.Version}}{{end}}{{end}}",
		"rcbench/adapters/"+client)
	if err != nil {
		return "", err
	}
	lines := strings.Fields(strings.ReplaceAll(out, " ", "@"))
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n"), nil
}
