package plugin

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The two files of a plugin.
const (
	manifestFile = "plugin.toml"
	moduleFile   = "plugin.wasm"
)

// maxModule is the largest plugin.wasm, and the largest package, in bytes.
const maxModule = 64 << 20

// Source is a plugin as it was found, before anything of it is believed.
type Source struct {
	// Manifest is the text of plugin.toml.
	Manifest []byte
	// Module is plugin.wasm.
	Module []byte
	// Origin says where it came from, for messages.
	Origin string
}

// ReadDir reads a plugin from a directory.
func ReadDir(dir string) (Source, error) {
	return ReadFS(os.DirFS(dir), dir)
}

// ReadFS reads a plugin from the root of a file system, such as an embedded
// one. Origin is for messages.
func ReadFS(fsys fs.FS, origin string) (Source, error) {
	s := Source{Origin: origin}
	var err error
	if s.Manifest, err = readFile(fsys, manifestFile, maxManifest); err != nil {
		return Source{}, fmt.Errorf("read plugin %s: %w", origin, err)
	}
	if s.Module, err = readFile(fsys, moduleFile, maxModule); err != nil {
		return Source{}, fmt.Errorf("read plugin %s: %w", origin, err)
	}
	return s, nil
}

// ReadPackage reads a plugin from a .zcp file: a zip with the two files at its
// root. Other files in it are left alone.
func ReadPackage(path string) (_ Source, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read plugin package %s: %w", path, err)
		}
	}()
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return Source{}, err
	case !info.Mode().IsRegular(): // opening a pipe would wait for its writer
		return Source{}, errors.New("it is not a file")
	case info.Size() > maxModule:
		return Source{}, fmt.Errorf("it is larger than %d MiB", maxModule>>20)
	}
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return Source{}, err
	}
	defer func() { _ = f.Close() }() // only read from
	return readZip(f, info.Size(), path)
}

func readZip(r io.ReaderAt, size int64, origin string) (Source, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return Source{}, err
	}
	s := Source{Origin: origin}
	for _, want := range []struct {
		name string
		most int64
		to   *[]byte
	}{{manifestFile, maxManifest, &s.Manifest}, {moduleFile, maxModule, &s.Module}} {
		var entry *zip.File
		for _, f := range z.File {
			switch {
			case f.Name != want.name:
			case entry != nil:
				return Source{}, fmt.Errorf("it has %s twice", want.name)
			default:
				entry = f
			}
		}
		if entry == nil {
			return Source{}, fmt.Errorf("it has no %s at its root", want.name)
		}
		in, err := entry.Open()
		if err != nil {
			return Source{}, fmt.Errorf("open %s: %w", want.name, err)
		}
		*want.to, err = readBounded(in, want.most)
		if err = errors.Join(err, in.Close()); err != nil {
			return Source{}, fmt.Errorf("read %s: %w", want.name, err)
		}
	}
	return s, nil
}

func readFile(fsys fs.FS, name string, most int64) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", name)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := readBounded(f, most)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// readBounded reads all of r and fails when it is more than most bytes,
// whatever a header said about its size.
func readBounded(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("larger than %d bytes", most)
	}
	return data, nil
}
