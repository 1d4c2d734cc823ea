package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"unicode/utf8"
)

// FileName is the config's name in the home directory.
const FileName = "config.toml"

// maxFile is the largest file that is read, in bytes: a config, or a system
// prompt.
const maxFile = 1 << 20

// Options say where the config is.
type Options struct {
	// Home is the home directory; its config.toml is read if there is one.
	Home string
	// Path is another file to read instead, which must be there.
	Path string
	// Env holds the environment as os.Environ returns it.
	Env []string
}

// Load reads the config, applies the environment and the defaults, and checks
// the whole. An error is an *Errors with everything that is wrong; the Config
// is then empty, because what was refused may be a secret.
//
// A file that is there but empty is as good as none. Whoever watches a file
// for changes names it in Path: then a file that is away for a moment, while
// an editor renames, is an error and not a config without keys.
func Load(opt Options) (Config, error) {
	r := &report{}
	path := opt.Path
	if path == "" && opt.Home != "" {
		path = filepath.Join(opt.Home, FileName)
	}
	data, found := read(path, opt.Path != "", r)
	c := Config{dir: filepath.Dir(path), home: opt.Home}
	if found {
		c.file = path
	}
	root, lost := parse(path, data, r)
	(&environment{root: root, report: r}).apply(opt.Env)

	c.origins = map[string]Origin{}
	d := decoder{report: r, origins: c.origins}
	d.table(root, reflect.ValueOf(&c).Elem(), "")
	c.fill(env(opt.Env))
	k := checker{config: &c, report: r, lost: lost}
	k.all(d.names)
	if err := r.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// read returns the bytes of the config file, checked to be text.
func read(path string, must bool, r *report) (data []byte, found bool) {
	if path == "" {
		return nil, false
	}
	data, err := readBounded(path)
	at := Origin{File: path}
	switch {
	case errors.Is(err, fs.ErrNotExist) && !must:
		return nil, false
	case errors.Is(err, fs.ErrNotExist):
		r.add(at, "", "there is no such file", "`zchost init` writes one")
		return nil, false
	case err != nil:
		r.add(at, "", reason(err), "")
		return nil, false
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		r.add(at, "", "the file is UTF-16", "save it as UTF-8")
		return nil, true
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if i := invalidUTF8(data); i >= 0 {
		at.Line = bytes.Count(data[:i], []byte{'\n'}) + 1
		at.Column = utf8.RuneCount(data[bytes.LastIndexByte(data[:i], '\n')+1:i]) + 1
		r.add(at, "", "the file is not UTF-8", "save it as UTF-8")
		return nil, true
	}
	return data, true
}

// readBounded reads a regular file of at most maxFile bytes.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("this is no regular file")
	}
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("the file is larger than %d bytes", maxFile)
	}
	return data, nil
}

// reason is an error without the path, which the problem names already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Op + ": " + pe.Err.Error()
	}
	return err.Error()
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// expand resolves a path in the config: "~/" is the user's home, and a
// relative path starts where the config file is, or would be.
func (c Config) expand(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("expand %s: %w", path, err)
		}
		return filepath.Join(home, rest), nil
	}
	if filepath.IsAbs(path) {
		return path, nil
	}
	return filepath.Join(c.dir, path), nil
}
