package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/tool"
)

const (
	// maxEntries is the most entries of one directory that are looked at.
	maxEntries = 10_000
	// maxListed is the most entries in one listing.
	maxListed = 1000
)

type listArguments struct {
	Path  string `json:"path"`
	Depth int    `json:"depth"`
}

func newListDir(w *workspace, room int) tool.Tool {
	return newTool(ListDir, abi.EffectRead,
		"Lists a directory of the workspace: a line for each entry, directories with / at the end, files with their size.",
		`{"type":"object","properties":{
			"path":{"type":"string","description":"The directory; without it the workspace itself."},
			"depth":{"type":"integer","minimum":1,"maximum":10,"description":"How many levels to list; without it 1."}},
			"additionalProperties":false}`,
		func(ctx context.Context, a listArguments) (string, error) {
			l := listing{room: room}
			err := w.use(a.Path, func(root *os.Root, name string) error {
				return l.add(ctx, root, name, "", max(1, a.Depth))
			})
			if err != nil {
				return "", err
			}
			return l.text(), nil
		})
}

// listing is the lines of a list_dir.
type listing struct {
	b     strings.Builder
	room  int
	lines int
	full  bool
}

// add lists a directory, and those in it down to that depth.
func (l *listing) add(ctx context.Context, root *os.Root, name, prefix string, depth int) error {
	entries, more, err := readDir(root, name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.line(prefix + entryLine(root, filepath.Join(name, e.Name()), e))
		if l.full {
			return nil
		}
		if !e.IsDir() || depth == 1 {
			continue
		}
		if err := l.add(ctx, root, filepath.Join(name, e.Name()), prefix+e.Name()+"/", depth-1); err != nil {
			l.line(prefix + e.Name() + "/ [" + err.Error() + "]")
		}
	}
	if more {
		l.line(fmt.Sprintf("%s[more than %d entries: the rest is not listed]", prefix, maxEntries))
	}
	return nil
}

func (l *listing) line(s string) {
	if l.lines == maxListed || l.b.Len()+len(s)+1 > l.room {
		l.full = true
		return
	}
	l.lines++
	l.b.WriteString(oneLine(s) + "\n")
}

func (l *listing) text() string {
	switch {
	case l.full:
		return l.b.String() + fmt.Sprintf("[cut after %s: list a directory further down, or use search_files with a glob]\n", count(l.lines, "line"))
	case l.lines == 0:
		return "[the directory is empty]\n"
	}
	return l.b.String()
}

// readDir returns the entries of a directory, sorted by name, and whether there
// are more than maxEntries.
func readDir(root *os.Root, name string) ([]fs.DirEntry, bool, error) {
	f, err := openDir(root, name)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }() // only read from
	entries, err := f.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, explain(name, err)
	}
	more := len(entries) > maxEntries
	entries = entries[:min(len(entries), maxEntries)]
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, more, nil
}

// entryLine describes an entry.
func entryLine(root *os.Root, name string, e fs.DirEntry) string {
	shown := path.Base(filepath.ToSlash(name))
	switch mode := e.Type(); {
	case mode.IsDir():
		return shown + "/"
	case mode&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		if err != nil {
			target = "?"
		}
		return shown + " -> " + target
	case !mode.IsRegular():
		return shown + " (" + kind(mode) + ")"
	}
	info, err := root.Lstat(name)
	if err != nil {
		return shown // gone by now
	}
	return fmt.Sprintf("%s (%s)", shown, count(int(info.Size()), "byte"))
}
