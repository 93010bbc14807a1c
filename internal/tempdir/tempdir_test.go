package tempdir

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSweepTakesOnlyStaleFolders(t *testing.T) {
	base := t.TempDir()
	t.Setenv("TMPDIR", base)
	live, err := New("", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Remove()
	stale, err := New("", 0)
	if err != nil {
		t.Fatal(err)
	}
	stale.lock.Close() // as the kernel does when its owner ends

	old := time.Now().Add(-2 * bareAge)
	bare := func(name string, mode os.FileMode, changed time.Time, files ...string) string {
		path := filepath.Join(base, name)
		if err := os.Mkdir(path, mode); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if err := os.WriteFile(filepath.Join(path, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
		return path
	}
	kept := []string{
		live.Path,
		bare("rcbench-new", 0o700, time.Now()),        // about to be locked
		bare("rcbench-other", 0o700, old, "results"),  // without our lock: not ours
		bare("rcbench-public", 0o755, old, lockName),  // not made by us
		bare("another-program", 0o700, old, lockName), // not our name
	}
	target := bare("elsewhere", 0o700, old, lockName)
	link := filepath.Join(base, "rcbench-link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	kept = append(kept, target, link)
	removed := []string{stale.Path, bare("rcbench-empty", 0o700, old)}

	sweep(base)
	for _, path := range kept {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	for _, path := range removed {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
}
