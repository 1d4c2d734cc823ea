package core

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/tool"
)

type writeArguments struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func newWriteFile(w *workspace) tool.Tool {
	return newTool(WriteFile, abi.EffectWrite,
		"Writes a whole file of the workspace: a new one, or one that is replaced. Directories on the way are made. "+
			"To change a part of a file use edit_file.",
		`{"type":"object","properties":{
			"path":{"type":"string","minLength":1,"description":"The file, relative to the workspace."},
			"content":{"type":"string","description":"All that the file shall hold."}},
			"required":["path","content"],"additionalProperties":false}`,
		func(_ context.Context, a writeArguments) (text string, err error) {
			err = w.use(a.Path, func(root *os.Root, name string) error {
				text, err = writeWhole(root, name, a.Content)
				return err
			})
			return text, err
		})
}

func writeWhole(root *os.Root, name, content string) (string, error) {
	name, err := final(root, name)
	if err != nil {
		return "", err
	}
	old, err := root.Lstat(name)
	switch {
	case err == nil && !old.Mode().IsRegular():
		return "", say("%s is %s and not a file: it is not replaced.", shown(name), kind(old.Mode()))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", explain(name, err)
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return "", explain(dir, err)
		}
	}
	mode := fs.FileMode(0o644)
	if old != nil {
		mode = old.Mode().Perm()
	}
	if err := replace(root, name, []byte(content), mode); err != nil {
		return "", explain(name, err)
	}
	if old == nil {
		return fmt.Sprintf("Wrote the new file %s (%s).", shown(name), count(len(content), "byte")), nil
	}
	return fmt.Sprintf("Wrote %s (%s; it had %d).", shown(name), count(len(content), "byte"), old.Size()), nil
}

// maxLinks is how many symbolic links in a row are followed.
const maxLinks = 8

// final follows the symbolic links at the end of a path: the file that they
// lead to is written, and the link stays.
func final(root *os.Root, name string) (string, error) {
	from := name
	for range maxLinks {
		info, err := root.Lstat(name)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return name, nil //nolint:nilerr // a file that is not there yet, or whose error comes when it is written
		}
		target, err := root.Readlink(name)
		if err != nil {
			return "", explain(name, err)
		}
		next := filepath.Join(filepath.Dir(name), target)
		if filepath.IsAbs(target) || !filepath.IsLocal(next) {
			return "", say("%s leads out of the workspace through a symbolic link, and is not followed.", shown(from))
		}
		name = next
	}
	return "", say("%s is a symbolic link that leads to more than %d others.", shown(from), maxLinks)
}

// replace writes a file as a whole: whoever opens it sees the old contents or
// the new ones, and after a crash it has one or the other.
func replace(root *os.Root, name string, content []byte, mode fs.FileMode) (err error) {
	temp := filepath.Join(filepath.Dir(name), ".zchost-"+rand.Text()[:12]+".tmp")
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = root.Remove(temp) // the first error says more
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode) // not lessened by the umask
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Rename(temp, name)
}
