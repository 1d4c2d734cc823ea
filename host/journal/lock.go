package journal

import (
	"context"
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
type lock struct {
	file  *flock.Flock
	owner string // path of the note
	// sound is how the last holder left the database, if it ended cleanly.
	sound stamp
}

// note is what the file beside the lock says: who holds the lock, or, after a
// clean end, how the database was left. It is a file of its own because Windows
// lets nobody read or write a locked one.
type note struct {
	PID     int    `json:"pid,omitempty"`
	Command string `json:"command,omitempty"`
	Started int64  `json:"started,omitempty"` // Unix milliseconds
	Sound   stamp  `json:"sound,omitzero"`
}

// stamp tells whether anybody has touched the database.
type stamp struct {
	Size     int64 `json:"size"`
	Modified int64 `json:"modified"` // Unix nanoseconds
	// Log is the size of the write-ahead log; none counts as 0.
	Log int64 `json:"log"`
}

func stampOf(journal string) (stamp, error) {
	info, err := os.Stat(journal)
	if err != nil {
		return stamp{}, fmt.Errorf("look at journal: %w", err)
	}
	s := stamp{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	log, err := os.Stat(journal + "-wal")
	if err == nil {
		s.Log = log.Size()
	} else if !errors.Is(err, os.ErrNotExist) {
		return stamp{}, fmt.Errorf("look at journal: %w", err)
	}
	return s, nil
}

// lockPatience is how long a lock that somebody has is waited for. A host that
// is killed just as it starts a tool's process leaves its lock to that process
// until it runs a program of its own.
const lockPatience = 500 * time.Millisecond

func takeLock(ctx context.Context, journal string) (*lock, error) {
	path := journal + ".lock"
	owner := journal + ".owner"
	f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	wait, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	got, err := f.TryLockContext(wait, lockPatience/25)
	if ctx.Err() != nil {
		return nil, errors.Join(fmt.Errorf("wait for lock: %w", context.Cause(ctx)), f.Close())
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fault.Wrap(err, fault.Home, "the home directory "+filepath.Dir(path)+" cannot be used",
			"it has to exist and to be writable for the user that runs zchost")
	}
	before := readNote(owner)
	if !got {
		return nil, errors.Join(lockedFault(filepath.Dir(path), before), f.Close())
	}
	l := &lock{file: f, owner: owner, sound: before.Sound}
	if err := l.write(note{PID: os.Getpid(), Command: command(), Started: time.Now().UnixMilli()}); err != nil {
		return nil, errors.Join(fault.Wrap(err, fault.Home, "the home directory "+filepath.Dir(path)+" cannot be written",
			"free some space, and make it writable for the user that runs zchost"), l.release())
	}
	return l, nil
}

// noteSound remembers that the closed database is sound, so that the next
// start need not read all of a large one. It is only a saving: if it does not
// work, that start reads it.
func (l *lock) noteSound(journal string) {
	if s, err := stampOf(journal); err == nil && s.Log == 0 {
		_ = l.write(note{Sound: s}) // see above
	}
}

func (l *lock) release() error {
	// The file stays: to delete it could take away the lock of the next host.
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("give lock free: %w", err)
	}
	return nil
}

func (l *lock) write(n note) error {
	b, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("write owner of lock: %w", err)
	}
	if err := os.WriteFile(l.owner, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write owner of lock: %w", err)
	}
	return nil
}

// readNote reads a note; what cannot be read is not known.
func readNote(path string) note {
	var n note
	b, err := os.ReadFile(path) //nolint:gosec // the home is the operator's
	if err != nil || json.Unmarshal(b, &n) != nil {
		return note{}
	}
	return n
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

// lockedFault names the owner as far as the note tells it.
func lockedFault(home string, n note) error {
	const hint = "stop it first, or use another home (--home or ZCHOST_HOME)"
	if n.PID == 0 {
		return fault.New(fault.Locked, "another zchost is using "+home, hint)
	}
	return fault.New(fault.Locked, fmt.Sprintf("another zchost is using %s: process %d (%s), since %s",
		home, n.PID, n.Command, time.UnixMilli(n.Started).Format(time.DateTime)), hint)
}
