package host

import (
	"os"
	"path/filepath"

	"github.com/zchost/zchost/host/fault"
)

// Home is the home directory and the names in it.
type Home struct {
	// Dir is its absolute path.
	Dir string
}

// Journal is the database's path.
func (h Home) Journal() string { return filepath.Join(h.Dir, "journal.db") }

// Plugins is where installed plugins are: a directory or a .zcp file for each.
func (h Home) Plugins() string { return filepath.Join(h.Dir, "plugins") }

// Cache is where compiled plugins are kept.
func (h Home) Cache() string { return filepath.Join(h.Dir, "cache") }

// Log is the log file's path.
func (h Home) Log() string { return filepath.Join(h.Dir, "log", "zchost.log") }

// errNoHome is returned for a home that was never used.
func errNoHome(dir string) error {
	return fault.New(fault.NotFound, "there is no home at "+dir, "`zchost chat` makes one; or name another with --home or ZCHOST_HOME")
}

// FindHome returns a home that is there, for those who only read.
func FindHome(dir string) (Home, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Home{}, fault.Wrap(err, fault.Home, "find home "+dir, "name it with --home or ZCHOST_HOME")
	}
	info, err := os.Stat(abs)
	switch {
	case os.IsNotExist(err):
		return Home{}, errNoHome(abs)
	case err != nil:
		return Home{}, fault.Wrap(err, fault.Home, "open home "+abs, "")
	case !info.IsDir():
		return Home{}, fault.New(fault.Home, "home "+abs+" is not a directory", "name another with --home or ZCHOST_HOME")
	}
	return Home{Dir: abs}, nil
}

// CreateHome returns the home, made with mode 0700 if it is not there.
func CreateHome(dir string) (Home, error) {
	h, err := FindHome(dir)
	if fault.CodeOf(err) != fault.NotFound {
		return h, err
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(abs, 0o700)
	}
	if err != nil {
		return Home{}, fault.Wrap(err, fault.Home, "make home "+dir, "name a directory that you may write to with --home or ZCHOST_HOME")
	}
	return Home{Dir: abs}, nil
}
