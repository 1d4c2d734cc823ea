package journal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/zchost/zchost/host/failpoint"
)

const (
	// maxGroup is the most writes in one transaction.
	maxGroup = 256
	// linger is how long a group waits for more writes while several come
	// together.
	linger = time.Millisecond
)

// write is one waiting write.
type write struct {
	step Step
	fn   func(*Tx) error
	// err is the result, there when done is closed.
	err  error
	done chan struct{}
	// state goes from waiting to taken, by the writer, or to left, by a
	// caller that no longer waits.
	state atomic.Int32
}

const (
	waiting int32 = iota
	taken
	left
)

// Stats counts the work of the writer since the journal was opened.
type Stats struct {
	// Writes that were asked for, commits that they took, and commits that
	// waited for the disk.
	Writes, Commits, Syncs int64
}

// writer owns the one connection that writes. Its goroutine takes all writes
// that wait and commits them in one transaction, so that the disk is waited for
// once for all of them.
type writer struct {
	conn   *conn
	boot   int64
	queue  chan *write
	logger hclog.Logger
	busy   time.Duration
	// full says that the connection's commits wait for the disk.
	full bool
	// sinceLook counts the commits since the log's length was looked at; see
	// the constants of the same names for the others.
	sinceLook           int
	copyPages, maxPages int64

	// closing is held for reading while a write is handed in.
	closing sync.RWMutex
	closed  bool
	stopped chan struct{}

	writes, commits, syncs atomic.Int64
	health                 atomic.Pointer[error]
}

func startWriter(c *conn, o Options) *writer {
	w := &writer{
		conn: c, queue: make(chan *write, maxGroup), logger: o.Logger, busy: o.BusyTimeout,
		full: true, copyPages: copyPages, maxPages: maxPages, stopped: make(chan struct{}),
	}
	go w.run()
	return w
}

// do hands a write in and waits for its end. A ctx that ends takes the write
// back if it has not begun; once it has begun, its end is waited for, so that
// the caller knows what became of it and fn runs no more.
func (w *writer) do(ctx context.Context, step Step, fn func(*Tx) error) error {
	wr := &write{step: step, fn: fn, done: make(chan struct{})}
	if err := w.enqueue(ctx, wr); err != nil {
		return err
	}
	select {
	case <-wr.done:
		return wr.err
	case <-ctx.Done():
		if wr.state.CompareAndSwap(waiting, left) {
			return context.Cause(ctx)
		}
		<-wr.done
		return wr.err
	}
}

func (w *writer) enqueue(ctx context.Context, wr *write) error {
	w.closing.RLock()
	defer w.closing.RUnlock()
	if w.closed {
		return ErrClosed
	}
	w.writes.Add(1)
	select {
	case w.queue <- wr:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stop refuses further writes, waits for those that were handed in, and ends
// the goroutine.
func (w *writer) stop() {
	w.closing.Lock()
	first := !w.closed
	w.closed = true
	w.closing.Unlock()
	if first {
		close(w.queue)
	}
	<-w.stopped
}

func (w *writer) run() {
	defer close(w.stopped)
	group := make([]*write, 0, maxGroup)
	busy := false
	for wr := range w.queue {
		group = w.gather(append(group[:0], wr), busy)
		busy = len(group) > 1
		w.commitGroup(group)
		for _, wr := range group {
			close(wr.done)
		}
		if err := w.checkpoint(); err != nil {
			w.logger.Warn("write-ahead log not shortened", "error", err)
		}
		clear(group)
	}
}

// gather adds all writes that wait. When several came together last time, it
// gives others a moment to come too, so that a quick disk is not asked more
// often than a slow one; one turn alone never waits.
func (w *writer) gather(group []*write, busy bool) []*write {
	var over <-chan time.Time
	if busy {
		over = time.After(linger)
	}
	for len(group) < maxGroup {
		wr := w.another(over)
		if wr == nil {
			break
		}
		group = append(group, wr)
	}
	return group
}

// another returns the next write, nil if none waits and over, if there is one,
// has come.
func (w *writer) another(over <-chan time.Time) *write {
	select {
	case wr := <-w.queue:
		return wr
	default:
	}
	if over == nil {
		return nil
	}
	select {
	case wr := <-w.queue:
		return wr
	case <-over:
		return nil
	}
}

// commitGroup runs the writes of group in one transaction and gives each its
// result. A write whose fn fails after it has written takes the transaction
// with it: the others are run again without it.
func (w *writer) commitGroup(group []*write) {
	var todo []*write
	for _, wr := range group {
		if wr.state.CompareAndSwap(waiting, taken) {
			todo = append(todo, wr)
		}
	}
	for len(todo) > 0 {
		failed, err := w.try(todo)
		if failed == nil {
			w.setHealth(err)
			for _, wr := range todo {
				if wr.err == nil {
					wr.err = err
				}
			}
			return
		}
		failed.err = err
		todo = without(todo, failed)
	}
}

func without(group []*write, gone *write) []*write {
	rest := group[:0]
	for _, wr := range group {
		if wr != gone {
			rest = append(rest, wr)
		}
	}
	return rest
}

// try runs one transaction. It returns the write that spoiled it, if it was
// one, and the error; without that write the error is that of them all.
func (w *writer) try(group []*write) (*write, error) {
	full := false
	for _, wr := range group {
		wr.err = nil
		full = full || wr.step.Full()
	}
	if err := w.setFull(full); err != nil {
		return nil, writeFault(err)
	}
	if _, err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return nil, writeFault(err)
	}
	tx := &Tx{conn: w.conn, boot: w.boot, now: time.Now()}
	for _, wr := range group {
		tx.wrote = false
		err := wr.fn(tx)
		switch {
		case err == nil:
		case tx.broken != nil: // the database, not the caller
			return nil, errors.Join(writeFault(tx.broken), w.rollback())
		case tx.wrote:
			return wr, errors.Join(err, w.rollback())
		default:
			wr.err = err
		}
	}
	return nil, w.commit(group, full)
}

func (w *writer) commit(group []*write, full bool) error {
	if failpoint.Enabled() {
		for _, wr := range group {
			failpoint.Hit(wr.step.before())
		}
	}
	if _, err := w.conn.exec("COMMIT"); err != nil {
		return errors.Join(writeFault(err), w.rollback())
	}
	w.commits.Add(1)
	if full {
		w.syncs.Add(1)
	}
	if failpoint.Enabled() {
		for _, wr := range group {
			failpoint.Hit(wr.step.after())
		}
	}
	return nil
}

// setFull switches between commits that wait for the disk and commits that do
// not. It works between transactions only, and PRAGMA acts when it is
// prepared, so it is prepared each time.
func (w *writer) setFull(full bool) error {
	if w.full == full {
		return nil
	}
	pragma := "PRAGMA synchronous=NORMAL"
	if full {
		pragma = "PRAGMA synchronous=FULL"
	}
	if err := w.conn.script(pragma); err != nil {
		return err
	}
	w.full = full
	return nil
}

// rollback ends a transaction that failed. After some errors SQLite has
// already rolled it back, and then there is nothing to do.
func (w *writer) rollback() error {
	if err := w.conn.script("ROLLBACK"); err != nil && resultCode(err) != sqlite3.SQLITE_ERROR {
		return err
	}
	return nil
}

func (w *writer) setHealth(err error) {
	if err == nil {
		w.health.Store(nil)
		return
	}
	w.health.Store(&err)
}
