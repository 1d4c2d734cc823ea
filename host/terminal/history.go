package terminal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Bounds of the history file.
const (
	historyEntries = 500
	historyBytes   = 1 << 20
)

// tidyHistory makes sure that the history file exists, is readable by its owner
// alone, and holds no more than its bounds. It does so before the line editor
// opens the file, which would create and rewrite it for everyone to read.
func tidyHistory(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator's own home
	if err != nil {
		return fmt.Errorf("open history: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	if err := f.Chmod(0o600); err != nil {
		return fmt.Errorf("protect history: %w", err)
	}
	keep, whole, err := lastLines(f)
	if err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	if whole {
		return nil
	}
	return replaceFile(path, keep)
}

// lastLines returns the end of the history within its bounds, and whether that
// is all of it.
func lastLines(f *os.File) (keep []byte, whole bool, err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, false, err
	}
	skip := max(0, size-historyBytes)
	if _, err := f.Seek(skip, io.SeekStart); err != nil {
		return nil, false, err
	}
	r := bufio.NewReader(io.LimitReader(f, historyBytes))
	if skip > 0 { // the first line is cut
		if _, err := r.ReadSlice('\n'); err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, false, nil
		}
	}
	all, err := io.ReadAll(r)
	if err != nil {
		return nil, false, err
	}
	lines := bytes.SplitAfter(all, []byte("\n"))
	if len(lines) <= historyEntries {
		return all, skip == 0, nil
	}
	return bytes.Join(lines[len(lines)-historyEntries:], nil), false, nil
}

// replaceFile puts another content in place of a file, whole or not at all.
func replaceFile(path string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // 0600
	if err != nil {
		return fmt.Errorf("shorten history: %w", err)
	}
	_, err = tmp.Write(content)
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		if rm := os.Remove(tmp.Name()); !errors.Is(rm, fs.ErrNotExist) {
			err = errors.Join(err, rm)
		}
		return fmt.Errorf("shorten history: %w", err)
	}
	return nil
}
