package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/zchost/zchost/host/fault"
)

// lock is the home's: one host at a time (BOT-1). The operating system gives
// it free when its holder dies, however that happens.
type lock struct{ file *flock.Flock }

// owner is what the lock file says about who holds the lock.
type owner struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
	Started int64  `json:"started"` // Unix milliseconds
}

func takeLock(journal string) (*lock, error) {
	path := journal + ".lock"
	f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	got, err := f.TryLock()
	if err != nil {
		return nil, fault.Wrap(err, fault.Home, "the home directory "+filepath.Dir(path)+" cannot be used",
			"it has to exist and to be writable for the user that runs zchost")
	}
	if !got {
		return nil, errors.Join(lockedFault(path), f.Close())
	}
	l := &lock{file: f}
	if err := writeOwner(path); err != nil {
		return nil, errors.Join(fault.Wrap(err, fault.Home, "the home directory "+filepath.Dir(path)+" cannot be written",
			"free some space, and make it writable for the user that runs zchost"), l.release())
	}
	return l, nil
}

func (l *lock) release() error {
	// The file stays: to delete it could take away the lock of the next host.
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("give lock free: %w", err)
	}
	return nil
}

func writeOwner(path string) error {
	b, err := json.Marshal(owner{os.Getpid(), command(), time.Now().UnixMilli()})
	if err != nil {
		return fmt.Errorf("write lock owner: %w", err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write lock owner: %w", err)
	}
	return nil
}

// command is this process's command line, shortened.
func command() string {
	const limit = 200
	c := strings.Join(os.Args, " ")
	if len(c) > limit {
		c = c[:limit]
	}
	return strings.ToValidUTF8(c, "")
}

// lockedFault names the owner as far as the lock file tells it.
func lockedFault(path string) error {
	const hint = "stop it first, or use another home (--home or ZCHOST_HOME)"
	home := filepath.Dir(path)
	b, err := os.ReadFile(path) //nolint:gosec // the home is the operator's
	var o owner
	if err != nil || json.Unmarshal(b, &o) != nil || o.PID == 0 {
		return fault.New(fault.Locked, "another zchost is using "+home, hint)
	}
	return fault.New(fault.Locked, fmt.Sprintf("another zchost is using %s: process %d (%s), since %s",
		home, o.PID, o.Command, time.UnixMilli(o.Started).Format(time.DateTime)), hint)
}
