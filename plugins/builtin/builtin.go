// Package builtin holds the plugins that are part of the program: the files
// that `make plugins` has put into dist, one directory for each plugin.
//
// A build without them works, but has no plugins: Open then says what to run.
package builtin

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// The two files of a plugin.
const (
	manifestFile = "plugin.toml"
	moduleFile   = "plugin.wasm"
)

// ErrNotBuilt says that the program was built without its plugins.
var ErrNotBuilt = errors.New("this program was built without its built-in plugins: run `make build`")

// NotFoundError says that no built-in plugin has that name.
type NotFoundError struct {
	// Name is the name that was asked for.
	Name string
}

// Error names the plugin.
func (e *NotFoundError) Error() string {
	return "there is no built-in plugin " + e.Name
}

// FS returns the plugins' directories, each named after its plugin and holding
// plugin.toml and plugin.wasm.
func FS() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		return dist // cannot happen: the name is valid
	}
	return sub
}

// Names returns the names of the plugins, sorted. It is empty in a program that
// was built without them.
func Names() []string { return names(FS()) }

// Open returns a plugin's manifest and module. The error is a *NotFoundError, or
// wraps ErrNotBuilt if there are no built-in plugins at all.
func Open(name string) (manifest, module []byte, err error) { return open(FS(), name) }

func names(dir fs.FS) []string {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() && complete(dir, e.Name()) {
			found = append(found, e.Name())
		}
	}
	return found
}

// complete reports whether both files of the plugin are there: a build that was
// stopped half-way leaves no plugin.
func complete(dir fs.FS, name string) bool {
	for _, file := range []string{manifestFile, moduleFile} {
		if _, err := fs.Stat(dir, name+"/"+file); err != nil {
			return false
		}
	}
	return true
}

func open(dir fs.FS, name string) (manifest, module []byte, err error) {
	if !fs.ValidPath(name) || name == "." || !complete(dir, name) {
		if len(names(dir)) == 0 {
			return nil, nil, fmt.Errorf("open built-in plugin %s: %w", name, ErrNotBuilt)
		}
		return nil, nil, &NotFoundError{Name: name}
	}
	if manifest, err = fs.ReadFile(dir, name+"/"+manifestFile); err != nil {
		return nil, nil, fmt.Errorf("read manifest of built-in plugin %s: %w", name, err)
	}
	if module, err = fs.ReadFile(dir, name+"/"+moduleFile); err != nil {
		return nil, nil, fmt.Errorf("read module of built-in plugin %s: %w", name, err)
	}
	return manifest, module, nil
}
