package plugin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
)

// maxCache is how large the compile cache may be, in bytes.
const maxCache = 256 << 20

// compileCache is the directory of compiled modules. It holds executable code,
// so it belongs to its user alone, and an entry is used only if it is whole.
//
//	DIR/wazero-1.12.0-amd64/          what another version left is deleted
//	    5f3a…/                        one entry: by the module's digest
//	        wazero-…/…                what wazero writes
//	        sum                       checksum of that
//	    5f3a….making-1234/            an entry in the making, renamed when whole
//
// Several processes may use it at once.
type compileCache struct {
	dir string // "" keeps nothing on disk

	mu   sync.Mutex
	busy map[string]chan struct{} // entries being made; closed when done
}

// makingSuffix marks an entry in the making; one that is older than makingAge was
// left by a process that died.
const (
	makingSuffix = ".making-"
	makingAge    = time.Hour
)

// errCache is a directory that cannot be used.
var errCache = errors.New("use compile cache")

// openCache makes the directory private, and deletes from it what is of another
// version, left over, or over the limit.
func openCache(dir string) (*compileCache, error) {
	if dir == "" {
		return &compileCache{}, nil
	}
	c := &compileCache{dir: filepath.Join(dir, "wazero-"+wazeroVersion()+"-"+runtime.GOARCH), busy: map[string]chan struct{}{}}
	if err := makePrivate(dir); err != nil {
		return nil, err
	}
	versions, err := filepath.Glob(filepath.Join(dir, "wazero-*"))
	if err != nil {
		return nil, fmt.Errorf("clean compile cache: %w", err)
	}
	for _, v := range versions {
		if v != c.dir {
			if err := os.RemoveAll(v); err != nil {
				return nil, fmt.Errorf("clean compile cache: %w", err)
			}
		}
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make compile cache: %w", err)
	}
	return c, errors.Join(c.sweep(), c.trim(maxCache))
}

// sweep deletes what was left in the making.
func (c *compileCache) sweep() error {
	left, err := filepath.Glob(filepath.Join(c.dir, "*"+makingSuffix+"*"))
	for _, path := range left {
		if info, gone := os.Stat(path); gone == nil && time.Since(info.ModTime()) > makingAge {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	if err != nil {
		return fmt.Errorf("clean compile cache: %w", err)
	}
	return nil
}

// makePrivate makes dir a directory that only its owner can enter. What others
// could have written into it is deleted: it would be run.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make compile cache: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("make compile cache: %w", err)
	}
	if !ownedByUs(info) {
		return fmt.Errorf("use compile cache %s: it belongs to another user", dir)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory needs the x
		return fmt.Errorf("make compile cache private: %w", err)
	}
	if info.Mode().Perm()&0o022 == 0 {
		return nil
	}
	entries, err := filepath.Glob(filepath.Join(dir, "wazero-*"))
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(e))
	}
	if err != nil {
		return fmt.Errorf("empty compile cache that others could write: %w", err)
	}
	return nil
}

// open returns wazero's cache for the module with that digest, and what to call
// when it was compiled or could not be. While one caller compiles a module the others wait, and
// then find it compiled.
func (c *compileCache) open(ctx context.Context, digest [32]byte) (_ wazero.CompilationCache, done func(compiled bool) error, err error) {
	if c.dir == "" {
		return wazero.NewCompilationCache(), func(bool) error { return nil }, nil
	}
	name := hex.EncodeToString(digest[:16])
	leave, err := c.enter(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	entry := filepath.Join(c.dir, name)
	made := entry
	if !whole(entry) {
		made, err = os.MkdirTemp(c.dir, name+makingSuffix)
	}
	var cache wazero.CompilationCache
	if err == nil {
		cache, err = wazero.NewCompilationCacheWithDir(made)
	}
	if err != nil {
		leave()
		return nil, nil, fmt.Errorf("%w: %w", errCache, err)
	}
	return cache, func(compiled bool) error {
		defer leave()
		switch {
		case made == entry:
			now := time.Now()
			_ = os.Chtimes(entry, now, now) // so that it is deleted last; where it cannot be, nothing is
			return nil
		case !compiled:
			return os.RemoveAll(made)
		}
		return errors.Join(c.publish(made, entry), c.trim(maxCache))
	}, nil
}

// publish puts what was made into its place. Another process may have done the
// same; either will do.
func (c *compileCache) publish(made, entry string) error {
	err := seal(made)
	if err == nil {
		err = os.RemoveAll(entry)
	}
	if err == nil {
		err = os.Rename(made, entry)
	}
	if err == nil || whole(entry) {
		return os.RemoveAll(made)
	}
	return errors.Join(fmt.Errorf("keep compiled module: %w", err), os.RemoveAll(made))
}

// enter waits until nobody else is at that entry.
func (c *compileCache) enter(ctx context.Context, name string) (leave func(), err error) {
	for {
		c.mu.Lock()
		other, taken := c.busy[name]
		if !taken {
			mine := make(chan struct{})
			c.busy[name] = mine
			c.mu.Unlock()
			return func() {
				c.mu.Lock()
				delete(c.busy, name)
				c.mu.Unlock()
				close(mine)
			}, nil
		}
		c.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for compilation: %w", context.Cause(ctx))
		}
	}
}

// trim deletes the entries that were not used for longest until the rest is at
// most limit bytes.
func (c *compileCache) trim(limit int64) error {
	type entry struct {
		path string
		used time.Time
		size int64
	}
	found, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("clean compile cache: %w", err)
	}
	var entries []entry
	var total int64
	for _, d := range found {
		info, err := d.Info()
		if err != nil {
			continue // deleted by another process
		}
		e := entry{path: filepath.Join(c.dir, d.Name()), used: info.ModTime()}
		e.size = sizeOf(e.path)
		total += e.size
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return a.used.Compare(b.used) })
	for _, e := range entries {
		if total <= limit {
			break
		}
		if err := os.RemoveAll(e.path); err != nil {
			return fmt.Errorf("clean compile cache: %w", err)
		}
		total -= e.size
	}
	return nil
}

func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil // what cannot be read is deleted with the rest
	})
	return size
}

// sumFile holds the checksum of an entry. wazero checks the code but not the
// table of functions before it, and jumps where that says.
const sumFile = "sum"

func seal(entry string) error {
	sum, err := checksum(entry)
	if err != nil {
		return fmt.Errorf("seal compile cache entry: %w", err)
	}
	if err := os.WriteFile(filepath.Join(entry, sumFile), []byte(sum), 0o600); err != nil {
		return fmt.Errorf("seal compile cache entry: %w", err)
	}
	return nil
}

// whole reports whether the entry exists as it was sealed.
func whole(entry string) bool {
	want, err := os.ReadFile(filepath.Join(entry, sumFile)) //nolint:gosec // our own directory
	if err != nil {
		return false
	}
	got, err := checksum(entry)
	return err == nil && got == string(want)
}

func checksum(entry string) (string, error) {
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	buf := make([]byte, 256<<10)
	err := filepath.WalkDir(entry, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == sumFile {
			return err
		}
		f, err := os.Open(path) //nolint:gosec // our own directory
		if err != nil {
			return err
		}
		_, _ = h.Write([]byte(d.Name())) // a hash takes everything
		_, err = io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f}, buf)
		return errors.Join(err, f.Close())
	})
	return strconv.FormatUint(uint64(h.Sum32()), 16), err
}

// wazeroVersion is the version of wazero in this program, which alone can use
// what it has compiled.
func wazeroVersion() string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/tetratelabs/wazero" {
				return dep.Version
			}
		}
	}
	return "dev"
}
