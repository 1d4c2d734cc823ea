package sink_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/sink"
)

// machine is one turn with its readers, and what should be true of them.
type machine struct {
	f     *fixture
	sink  *sink.Sink
	turn  journal.Turn
	want  []journal.Event // what was appended, numbered
	ended bool
	// readers are as many as there are cursors: where each has got to.
	readers []*sink.Reader
	cursors []int
}

// TestModel does random things to a turn: SNK-1 to SNK-5, a host that dies and
// comes back among them.
func TestModel(t *testing.T) {
	t.Parallel()
	f := setup(t)
	rapid.Check(t, func(t *rapid.T) {
		turn, _, err := f.Admit(context.Background(), journal.Admission{Session: fmt.Sprint(rand.Uint64())})
		if err != nil {
			t.Fatal(err)
		}
		m := &machine{f: f, turn: turn}
		m.start()
		defer m.end(t)
		t.Repeat(map[string]func(*rapid.T){
			"append":    m.append,
			"burst":     m.burst,
			"connect":   m.connect,
			"read":      m.read,
			"reconnect": m.reconnect,
			"flush":     m.flush,
			"crash":     m.crash,
		})
	})
}

// start opens the turn's sink as a host does that has just started.
func (m *machine) start() {
	m.f.store = &store{Journal: m.f.Journal}
	m.f.hub = sink.NewHub(m.f.store)
	m.sink = m.f.hub.Open(m.turn)
}

func (m *machine) append(t *rapid.T) {
	attempt := rapid.Int64Range(0, 3).Draw(t, "attempt")
	types := rapid.SliceOfN(rapid.SampledFrom([]abi.EventType{
		abi.EventText, abi.EventReasoning, abi.EventProviderTool, abi.EventUsage, journal.EventWarning,
	}), 1, 5).Draw(t, "types")
	m.add(t, attempt, types)
}

// burst appends more than a sink keeps, once or twice.
func (m *machine) burst(t *rapid.T) {
	if len(m.want) > 2*sink.Keep {
		t.Skip("enough")
	}
	m.add(t, 1, slices.Repeat([]abi.EventType{abi.EventText}, rapid.IntRange(sink.Keep, 2*sink.Keep).Draw(t, "count")))
}

func (m *machine) add(t *rapid.T, attempt int64, types []abi.EventType) {
	events := make([]journal.Event, len(types))
	for i, typ := range types {
		events[i] = journal.Event{Type: typ, Text: fmt.Sprint(len(m.want) + i)}
	}
	if err := m.sink.Append(context.Background(), attempt, events...); err != nil {
		t.Fatal(err)
	}
	fresh := false
	for _, e := range events {
		if e.N != 0 || e.Attempt != 0 || !e.At.IsZero() {
			t.Fatalf("the caller's event was changed: %+v", e)
		}
		e.N, e.Attempt = int64(len(m.want)+1), attempt
		fresh = fresh || (e.Type.Visible(e.Text) && !slices.ContainsFunc(m.want, visibleOf(attempt)))
		m.want = append(m.want, e)
	}
	if fresh && !slices.ContainsFunc(m.durable(t), visibleOf(attempt)) {
		t.Fatalf("attempt %d was seen, and the journal does not know (SNK-2)", attempt)
	}
	if seen := slices.ContainsFunc(m.want[m.turn.Events:], visibleOf(attempt)); seen != m.sink.Visible(attempt) {
		t.Fatalf("attempt %d visible: %v, want %v", attempt, !seen, seen)
	}
}

// visibleOf tells whether an event is a visible one of an attempt.
func visibleOf(attempt int64) func(journal.Event) bool {
	return func(e journal.Event) bool { return e.Attempt == attempt && e.Type.Visible(e.Text) }
}

// durable is what the journal has.
func (m *machine) durable(t *rapid.T) []journal.Event {
	var list []journal.Event
	for {
		page, err := m.f.Events(context.Background(), m.turn.ID, int64(len(list)), 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		list = append(list, page...)
	}
	for i := range list {
		if i >= len(m.want) || !same(m.want[i], list[i]) {
			t.Fatalf("the journal has %+v at %d", list[i], i)
		}
	}
	return list
}

func same(want, got journal.Event) bool {
	return want.N == got.N && want.Attempt == got.Attempt && want.Type == got.Type && want.Text == got.Text
}

func (m *machine) connect(t *rapid.T) {
	if len(m.readers) == 3 {
		t.Skip("enough")
	}
	after := rapid.IntRange(0, len(m.want)).Draw(t, "after")
	r, err := m.f.hub.Reader(context.Background(), m.turn.ID, int64(after))
	if err != nil {
		t.Fatal(err)
	}
	m.readers, m.cursors = append(m.readers, r), append(m.cursors, after)
}

func (m *machine) pick(t *rapid.T) int {
	if len(m.readers) == 0 {
		m.connect(t)
	}
	return rapid.IntRange(0, len(m.readers)-1).Draw(t, "reader")
}

// read checks that a reader gets the next events if there are some, and waits
// if there are none.
func (m *machine) read(t *rapid.T) {
	i := m.pick(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if m.cursors[i] == len(m.want) {
		cancel()
	}
	events, err := m.readers[i].Next(ctx)
	switch {
	case m.cursors[i] < len(m.want):
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if m.cursors[i] >= len(m.want) || !same(m.want[m.cursors[i]], e) {
				t.Fatalf("reader got %+v after %d of %d", e, m.cursors[i], len(m.want))
			}
			m.cursors[i]++
		}
	case m.ended:
		if !errors.Is(err, io.EOF) {
			t.Fatalf("after the end: %+v, %v", events, err)
		}
	case !errors.Is(err, context.Canceled):
		t.Fatalf("nothing is there, and a reader got %+v, %v", events, err)
	}
}

func (m *machine) reconnect(t *rapid.T) {
	i := m.pick(t)
	r, err := m.f.hub.Reader(context.Background(), m.turn.ID, int64(m.cursors[i]))
	if err != nil {
		t.Fatal(err)
	}
	m.readers[i] = r
}

func (m *machine) flush(t *rapid.T) {
	if err := m.f.hub.Flush(); err != nil {
		t.Fatal(err)
	}
}

// crash drops what is not in the journal. The next host goes on after what is.
func (m *machine) crash(t *rapid.T) {
	m.f.store.fail(errBroken)
	durable := m.durable(t)
	m.f.hub.Close()
	m.want = m.want[:len(durable)]
	var err error
	if m.turn, err = m.f.Turn(context.Background(), m.turn.ID); err != nil {
		t.Fatal(err)
	}
	m.start()
	for i := range m.readers {
		m.cursors[i] = min(m.cursors[i], len(m.want))
		m.readers[i] = m.sink.Reader(int64(m.cursors[i]))
	}
}

// end ends the turn; then every reader gets the rest, and the end.
func (m *machine) end(t *rapid.T) {
	if t.Failed() {
		return
	}
	if err := finish(context.Background(), m.sink); err != nil {
		t.Fatal(err)
	}
	m.want = append(m.want, journal.Event{N: int64(len(m.want) + 1), Type: journal.EventTurnEnded})
	m.ended = true
	if got := m.durable(t); len(got) != len(m.want) {
		t.Fatalf("the journal has %d of %d events", len(got), len(m.want))
	}
	m.readers, m.cursors = append(m.readers, m.sink.Reader(0)), append(m.cursors, 0)
	for i := range m.readers {
		for m.cursors[i] < len(m.want) {
			m.readAt(t, i)
		}
	}
	m.f.hub.Close()
}

func (m *machine) readAt(t *rapid.T, i int) {
	events, err := m.readers[i].Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if !same(m.want[m.cursors[i]], e) {
			t.Fatalf("reader got %+v after %d", e, m.cursors[i])
		}
		m.cursors[i]++
	}
}

// TestHammer appends from several goroutines to several turns while readers
// come, stay behind, give up and come back. Everybody gets the same.
func TestHammer(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const appends = 200
	var work sync.WaitGroup
	for range 4 {
		turn := f.admit(t)
		s := f.hub.Open(turn)
		var readers, writers sync.WaitGroup
		results := make(chan []journal.Event, 6)
		for n := range cap(results) {
			readers.Go(func() { results <- hammerRead(t, f, turn.ID, n) })
		}
		for attempt := range int64(4) {
			writers.Go(func() {
				for i := range appends {
					e := text(fmt.Sprintf("%d.%d ", attempt, i))
					if i%3 == 0 {
						e.Type = abi.EventUsage
					}
					if err := s.Append(t.Context(), attempt, e); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		work.Go(func() {
			writers.Wait()
			if err := finish(t.Context(), s); err != nil {
				t.Error(err)
			}
			readers.Wait()
			close(results)
			want := stored(t, f, turn.ID)
			if len(want) != 4*appends+1 {
				t.Errorf("the journal has %d events", len(want))
			}
			for got := range results {
				if d := sameEvents(want, got); d != "" {
					t.Errorf("a reader differs from the journal:\n%.2000s", d)
				}
			}
		})
	}
	work.Wait()
}

// hammerRead reads a turn to its end, giving up and coming back at times, the
// more often the higher n is. It checks SNK-2 as it goes.
func hammerRead(t *testing.T, f *fixture, turn string, n int) []journal.Event {
	t.Helper()
	var got []journal.Event
	known := make(map[int64]bool)
	var r *sink.Reader
	for {
		if r == nil || rand.IntN(10) < n {
			var err error
			if r, err = f.hub.Reader(t.Context(), turn, int64(len(got))); err != nil {
				t.Error(err)
				return got
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(5))*time.Millisecond)
		events, err := r.Next(ctx)
		cancel()
		switch {
		case errors.Is(err, io.EOF):
			return got
		case errors.Is(err, context.DeadlineExceeded):
			continue
		case err != nil:
			t.Error(err)
			return got
		}
		for _, e := range events {
			if e.Type.Visible(e.Text) && !known[e.Attempt] {
				known[e.Attempt] = true
				if !inJournal(t, f, turn, e.Attempt) {
					t.Errorf("a reader has event %d of attempt %d, and the journal has none of it", e.N, e.Attempt)
				}
			}
		}
		got = append(got, events...)
	}
}

func inJournal(t *testing.T, f *fixture, turn string, attempt int64) bool {
	t.Helper()
	return slices.ContainsFunc(stored(t, f, turn), func(e journal.Event) bool {
		return e.Attempt == attempt && e.Type.Visible(e.Text)
	})
}
