// Package journal is the one durable record: what people sent, what was asked
// of which model, what was shown, and how each turn ended.
//
// It is a SQLite database with one writer, whose goroutine commits the writes
// of several turns together, and a few readers beside it. Every durable write
// is a named Step; the name decides whether the commit waits for the disk.
// Rows of events never change: the database refuses it.
//
// A home has one host at a time. A start of the host is a boot; Open settles
// what earlier boots left unfinished. Reader is for looking at the journal
// beside a running host.
package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/zchost/zchost/host/failpoint"
	"github.com/zchost/zchost/host/fault"
)

// Options are the options of Open.
type Options struct {
	// Version is the host's version, kept with the boot.
	Version string
	// Logger gets what nobody waits for, such as a log that cannot be
	// shortened. Default: nothing is logged.
	Logger hclog.Logger
	// BusyTimeout is how long a write waits for the lock of another process,
	// such as a backup. Default: 10 s.
	BusyTimeout time.Duration
}

// Journal is the open journal of a home. Its methods may be used at the same
// time.
type Journal struct {
	*Reader
	writer *writer
	lock   *lock
	path   string
	boot   int64

	closing sync.Once
}

// Open opens the journal at path, making it if there is none, for the only
// host that may write it. It refuses, with a fault, a home that another host
// has, a damaged database, and one from a newer version, and changes nothing
// in them. Work that an earlier boot left is settled as interrupted by restart.
func Open(ctx context.Context, path string, o Options) (*Journal, error) {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.BusyTimeout <= 0 {
		o.BusyTimeout = 10 * time.Second
	}
	l, err := takeLock(ctx, path)
	if err != nil {
		return nil, err
	}
	j := &Journal{lock: l, path: path}
	if err := j.open(ctx, path, o); err != nil {
		return nil, errors.Join(err, j.closeAll(), l.release())
	}
	return j, nil
}

func (j *Journal) open(ctx context.Context, path string, o Options) error {
	if err := check(ctx, path, j.lock.sound, o.BusyTimeout); err != nil {
		return err
	}
	c, err := openWriter(path, o.BusyTimeout)
	if err != nil {
		return err
	}
	j.writer = startWriter(c, o)
	failpoint.Hit(failpoint.BootBefore)
	if err := j.startBoot(ctx, o.Version); err != nil {
		return err
	}
	failpoint.Hit(failpoint.BootAfter)
	j.Reader, err = OpenReader(ctx, path)
	return err
}

// Close finishes the writes that were handed in, notes that this boot ended
// cleanly, and gives the home free. A second Close does nothing.
func (j *Journal) Close(ctx context.Context) (err error) {
	j.closing.Do(func() { err = j.close(ctx) })
	return err
}

func (j *Journal) close(ctx context.Context) error {
	err := j.Write(ctx, StepClose, func(tx *Tx) error { return tx.endBoot() })
	err = errors.Join(err, j.closeAll())
	if err == nil {
		j.lock.noteSound(j.path)
	}
	return errors.Join(err, j.lock.release())
}

// closeAll closes what is open of the database.
func (j *Journal) closeAll() error {
	var errs []error
	if j.Reader != nil {
		errs = append(errs, j.Reader.Close())
	}
	if j.writer != nil {
		j.writer.stop()
		errs = append(errs, j.writer.conn.close())
	}
	return errors.Join(errs...)
}

// Write runs fn in a transaction, together with other writes that wait, and
// returns when it is committed, as durably as the step says. An error means
// that nothing of it was written; a fault with the code unavailable says that
// the database cannot be written just now. See Tx for what fn may do.
func (j *Journal) Write(ctx context.Context, step Step, fn func(*Tx) error) error {
	return j.writer.do(ctx, step, fn)
}

// Boot is the number of this start of the host.
func (j *Journal) Boot() int64 { return j.boot }

// Stats counts what was written.
func (j *Journal) Stats() Stats {
	w := j.writer
	return Stats{Writes: w.writes.Load(), Commits: w.commits.Load(), Syncs: w.syncs.Load()}
}

// Health is nil if the last commit worked, else why it did not.
func (j *Journal) Health() error {
	if err := j.writer.health.Load(); err != nil {
		return *err
	}
	return nil
}

// milli is the time of Unix milliseconds; 0 is no time.
func milli(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// exists reports whether the file is there. A link that leads nowhere, to a
// disk that is not mounted perhaps, is not taken for no file.
func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		if to, err := os.Readlink(path); err == nil {
			return false, fault.New(fault.Journal, path+" leads to "+to+", which is not there",
				"mount the disk that it is on, or remove the link to start with a new journal")
		}
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for %s: %w", path, err)
	}
	return true, nil
}
