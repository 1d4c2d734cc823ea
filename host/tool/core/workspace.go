package core

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// workspace is an agent's directory.
type workspace struct {
	dir  string // absolute
	real string // the same without symbolic links: what a shell says
}

// say is an error whose text is for the model: it says what to do.
func say(format string, args ...any) error { return fmt.Errorf(format, args...) }

// use runs f with the root of the workspace and the path in it that the model
// named.
func (w *workspace) use(path string, f func(root *os.Root, name string) error) error {
	name, err := w.local(path)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return say("The workspace cannot be opened: %v.", plain(err))
	}
	defer func() { _ = root.Close() }() // only a handle on a directory
	return f(root, name)
}

// local turns what a model writes as a path into one for os.Root: relative to
// the workspace. An absolute path is fine if it lies in the workspace.
func (w *workspace) local(path string) (string, error) {
	name := filepath.FromSlash(path)
	if strings.ContainsRune(name, 0) || len(name) > 4096 {
		return "", say("The path is not one that a file can have.")
	}
	if filepath.IsAbs(name) {
		for _, base := range []string{w.dir, w.real} {
			if rel, err := filepath.Rel(base, name); err == nil && filepath.IsLocal(rel) {
				return rel, nil
			}
		}
		return "", outside(path)
	}
	name = filepath.Clean(name)
	if !filepath.IsLocal(name) {
		return "", outside(path)
	}
	return name, nil
}

func outside(path string) error {
	return say("%s is outside of the workspace. Use a path relative to the workspace, such as notes/today.md.", shown(path))
}

// maxShown is the longest path in a message, in bytes.
const maxShown = 300

// shown is a path as it stands in a message.
func shown(path string) string {
	if len(path) > maxShown {
		path = path[:maxShown] + "…"
	}
	return oneLine(filepath.ToSlash(path))
}

// oneLine makes valid UTF-8 of a name, and keeps one with a line end in it from
// looking like two.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// plain is an error of the system without the path, which the message has.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// explain turns an error of the system into one for the model.
func explain(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return say("There is no %s. list_dir shows what there is.", shown(name))
	case errors.Is(err, fs.ErrPermission):
		return say("%s cannot be opened: permission denied.", shown(name))
	case strings.Contains(plain(err).Error(), "escapes"): // os.Root has no value for it
		return say("%s leads out of the workspace through a symbolic link, and is not followed.", shown(name))
	}
	return say("%s cannot be used: %v.", shown(name), plain(err))
}

// openFile opens a regular file to be read. Nothing else is opened: a pipe
// would wait for its other end, and a device may do anything.
func openFile(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	return open(root, name, fs.FileMode.IsRegular, "a file")
}

// openDir opens a directory.
func openDir(root *os.Root, name string) (*os.File, error) {
	f, _, err := open(root, name, fs.FileMode.IsDir, "a directory")
	return f, err
}

func open(root *os.Root, name string, wanted func(fs.FileMode) bool, what string) (*os.File, fs.FileInfo, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, nil, explain(name, err)
	}
	if !wanted(info.Mode()) {
		return nil, nil, say("%s is %s and not %s.", shown(name), kind(info.Mode()), what)
	}
	// It may be something else by now, so this must not wait either.
	f, err := root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, explain(name, err)
	}
	if info, err = f.Stat(); err != nil || !wanted(info.Mode()) {
		_ = f.Close() // nothing was read
		return nil, nil, say("%s changed while it was opened, and is not %s now.", shown(name), what)
	}
	return f, info, nil
}

// kind names what a file is.
func kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "a file"
	case m.IsDir():
		return "a directory"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
