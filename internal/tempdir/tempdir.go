// Package tempdir makes private temporary folders that do not outlive their
// owner for ever: what a killed process left behind is removed by the next one
// that makes a folder.
package tempdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	folderPrefix = "rcbench-"
	lockName     = "owner.lock"

	// bareAge is how old a folder without a lock must be to be stale: its
	// owner may be about to make the lock.
	bareAge = 10 * time.Minute
)

// A Folder is a private temporary folder. Its owner holds a lock on a file in it
// for life; the kernel releases the lock however the owner
// ends, so a folder whose lock is free is nobody's any more.
//
// Note: flock and not a file with the owner's pid, because a pid is used again.
type Folder struct {
	Path string
	lock *os.File
}

// New makes a folder in the system's temporary folder, and first removes stale
// ones there. If the path of a file called longest would be over limit bytes in
// it, it is made in /tmp; a limit of 0 is none.
func New(longest string, limit int) (*Folder, error) {
	base, err := filepath.Abs(os.TempDir())
	if err != nil {
		return nil, err
	}
	if limit > 0 && len(filepath.Join(base, folderPrefix+"1234567890", longest)) > limit {
		base = "/tmp"
	}
	sweep(base)
	for {
		path, err := os.MkdirTemp(base, folderPrefix)
		if err != nil {
			return nil, err
		}
		f, err := lockFolder(path)
		if err == nil {
			return f, nil
		}
		os.RemoveAll(path)
		if !errors.Is(err, errSwept) {
			return nil, err
		}
	}
}

// errSwept says that another process took the new folder for a stale one.
var errSwept = errors.New("folder was removed")

// lockFolder takes the lock of a new folder. Between the making of the lock's
// file and the locking another process may sweep the folder; then the lock is
// held by it, or is on a file that is no longer there.
func lockFolder(path string) (*Folder, error) {
	name := filepath.Join(path, lockName)
	lock, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errSwept
	}
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errSwept
		}
		return nil, fmt.Errorf("locking %s: %w", name, err)
	}
	mine, err1 := lock.Stat()
	there, err2 := os.Stat(name)
	if err1 != nil || err2 != nil || !os.SameFile(mine, there) {
		lock.Close()
		return nil, errSwept
	}
	return &Folder{path, lock}, nil
}

// File is the path of name in the folder.
func (f *Folder) File(name string) string { return filepath.Join(f.Path, name) }

// Ours reports whether a path has the name of a Folder.
func Ours(path string) bool { return strings.HasPrefix(filepath.Base(path), folderPrefix) }

// Remove removes the folder, and gives up the lock after it.
func (f *Folder) Remove() error {
	err := os.RemoveAll(f.Path)
	f.lock.Close()
	return err
}

// sweep removes the stale folders in base, as far as it can: what cannot be
// removed is left for the next time.
func sweep(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), folderPrefix) {
			continue
		}
		fi, err := e.Info()
		if err != nil {
			continue
		}
		stat, ok := fi.Sys().(*syscall.Stat_t)
		if !ok || int(stat.Uid) != os.Getuid() || fi.Mode().Perm() != 0o700 {
			continue
		}
		sweepFolder(filepath.Join(base, e.Name()), fi.ModTime())
	}
}

func sweepFolder(path string, changed time.Time) {
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		if time.Since(changed) > bareAge {
			os.Remove(path) // only if it is empty: it may be of another program
		}
		return
	}
	if err != nil {
		return
	}
	defer lock.Close()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		os.RemoveAll(path)
	}
}
