package protocols

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

// The same rule gives the same outcome in every protocol, streamed and in one
// piece (REL-3 to REL-8, STR-1 to STR-5, CST-1, CST-2, MRK-2, MRK-4).
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		t.Run(w.plugin()+"/stream", func(t *testing.T) {
			t.Parallel()
			runFaults(t, w, streamFaults(), false)
		})
		t.Run(w.plugin()+"/whole", func(t *testing.T) {
			t.Parallel()
			runFaults(t, w, wholeFaults(), true)
		})
	}
}

// key is the value of the n-th key.
func key(n int) string { return fmt.Sprintf("sk-protocols-%d-5a1f9c3e7b20d846", n) }

// together is how many turns run at once.
const together = 12

// runFaults runs the turns of one wire in one host, many at once, and then
// looks at each.
func runFaults(t *testing.T, w wire, faults []fault, noStream bool) {
	v := startVendor(t, w)
	config := provider("shared", v, 1, "provider_backoff_ms = 1")
	for i := range faults {
		f := &faults[i]
		v.plays(f.name, f.scripts(w)...)
		own := "shared"
		if f.keys > 0 {
			own = f.name
			config += provider(own, v, f.keys, "provider_backoff_ms = 1")
		}
		config += agent(own, f.name, f.knobs, "")
	}
	home := newHome(t, config)
	h := startHost(t, home)
	shown := make([]seen, len(faults))
	room := make(chan struct{}, together)
	var all sync.WaitGroup
	for i := range faults {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			shown[i] = ask(t, h, turn.Message{Session: faults[i].name, Agent: faults[i].name, Surface: "cli", Text: "hello", NoStream: noStream})
		})
	}
	all.Wait()
	for i := range faults {
		t.Run(faults[i].name, func(t *testing.T) { check(t, h, v, &faults[i], shown[i]) })
	}
	noSecrets(t, home)
}

// provider is the table of a provider at the vendor, with keys.
func provider(name string, v *vendor, keys int, more string) string {
	refs := []string{`"env:KEY_1"`, `"env:KEY_2"`}[:keys]
	return fmt.Sprintf("[providers.%s]\nplugin = %q\nbase_url = %q\napi_keys = [%s]\n%s\n", name, v.wire.plugin(), v.base(), strings.Join(refs, ","), more)
}

// agent is the tables of an agent and its profile, with the same name as the
// model.
func agent(provider, name, profile, more string) string {
	return fmt.Sprintf("[models.%s]\nprovider = %q\nmodel = %q\n%s\n[agents.%s]\nmodel = %q\n%s\n", name, provider, name, profile, name, name, more)
}

// seen is a turn as a reader saw it.
type seen struct {
	turn journal.Turn
	text string
	took time.Duration
	err  error
}

// ask runs one turn to its end.
func ask(t *testing.T, h *host.Host, m turn.Message) (s seen) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	began := time.Now()
	defer func() { s.took = time.Since(began) }()
	if s.turn, s.err = h.Send(ctx, m); s.err != nil {
		return s
	}
	r, err := h.Events(ctx, s.turn.ID, 0)
	var last int64
	for err == nil {
		var events []journal.Event
		events, err = r.Next(ctx)
		for _, e := range events {
			if e.N != last+1 {
				s.err = fmt.Errorf("event %d follows event %d (SNK-1)", e.N, last)
			}
			last = e.N
			if e.Type == "text" {
				s.text += e.Text
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		s.err = err
		return s
	}
	ended, err := h.Wait(ctx, s.turn.ID)
	s.turn, s.err = ended, errors.Join(s.err, err)
	return s
}

func check(t *testing.T, h *host.Host, v *vendor, f *fault, s seen) {
	t.Helper()
	if s.err != nil {
		t.Fatal(s.err)
	}
	want := f.want
	if e, ok := f.except[v.wire.plugin()]; ok {
		if e.why == "" {
			t.Error("an exception without a reason")
		}
		want = e.want
	}
	got, _ := outcomeOf(t, h, s)
	if got.state != want.state || got.marker != want.marker || got.text != want.text || got.ledger != want.ledger || got.warning != want.warning {
		t.Errorf("got  state %s, marker %q, text %.40q, attempts %q, warning %q\nwant state %s, marker %q, text %q, attempts %q, warning %q\nerror: %.600s",
			got.state, got.marker, got.text, got.ledger, got.warning, want.state, want.marker, want.text, want.ledger, want.warning, s.turn.Error.Message)
	}
	if want.usage != "" && got.usage != want.usage {
		t.Errorf("usage %s, want %s", got.usage, want.usage)
	}
	if want.keys != "" && got.keys != want.keys {
		t.Errorf("keys %q, want %q (REL-8)", got.keys, want.keys)
	}
	if s.took < want.least {
		t.Errorf("it took %s, want at least %s (REL-6)", s.took, want.least)
	}
	if !strings.Contains(s.turn.Error.Message, want.mentions) {
		t.Errorf("the error %q does not mention %q", s.turn.Error.Message, want.mentions)
	}
	checkRequests(t, v, f, got)
	checkKept(t, h, s, want.kept)
}

// checkRequests compares the ledger with what the vendor got (CST-1).
func checkRequests(t *testing.T, v *vendor, f *fault, got outcome) {
	t.Helper()
	var asked, rows, keys []string
	for _, r := range v.asked(f.name) {
		asked = append(asked, modeOf(r.stream))
		label := "none"
		for n := 1; n <= 2; n++ {
			if r.key == key(n) {
				label = fmt.Sprintf("env:KEY_%d", n)
			}
		}
		keys = append(keys, label)
	}
	for row := range strings.SplitSeq(got.ledger, "; ") {
		mode, _, _ := strings.Cut(row, " ")
		rows = append(rows, mode)
	}
	if a, b := strings.Join(asked, " "), strings.Join(rows, " "); a != b {
		t.Errorf("the requests are %q, the ledger has %q (CST-1)", a, b)
	}
	if a := strings.Join(keys, " "); a != got.keys {
		t.Errorf("the requests have the keys %q, the ledger %q (REL-8)", a, got.keys)
	}
}

// checkKept looks at the messages that stay (MRK-2, MRK-4).
func checkKept(t *testing.T, h *host.Host, s seen, want int) {
	t.Helper()
	messages, err := h.Journal().Messages(t.Context(), s.turn.SessionID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want == 0 {
		want = map[bool]int{true: 1, false: 2}[strings.TrimSpace(s.text) == ""]
	}
	if len(messages) != want {
		t.Errorf("%d messages are kept, want %d (MRK-2, MRK-4)", len(messages), want)
	}
}

// outcomeOf is what a turn came to.
func outcomeOf(t *testing.T, h *host.Host, s seen) (outcome, []journal.Attempt) {
	t.Helper()
	attempts, err := h.Journal().Attempts(t.Context(), s.turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{state: s.turn.State, marker: s.turn.Marker, text: s.text}
	var rows, keys []string
	for _, a := range attempts {
		rows = append(rows, modeOf(a.Streaming)+" "+a.Outcome)
		keys = append(keys, a.KeyLabel)
		o.warning, o.usage = a.Warning, number(a.Usage.Input)+"/"+number(a.Usage.Output)
	}
	o.ledger, o.keys = strings.Join(rows, "; "), strings.Join(keys, " ")
	return o, attempts
}

func modeOf(stream bool) string {
	if stream {
		return "stream"
	}
	return "whole"
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

// noSecrets looks for the keys in everything that the home holds (C138).
func noSecrets(t *testing.T, home string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(content), "sk-protocols-") {
			t.Errorf("%s holds a key (C138)", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// startHost starts a host in this home.
func startHost(t testing.TB, home string) *host.Host {
	t.Helper()
	h, err := host.Start(t.Context(), host.Options{Home: home, Env: []string{"KEY_1=" + key(1), "KEY_2=" + key(2)}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// newHome makes a home. Compiled plugins are shared between tests.
func newHome(t testing.TB, config string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	shared := filepath.Join(os.TempDir(), "zchost-test-cache")
	if err := os.MkdirAll(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shared, filepath.Join(home, "cache")); err != nil {
		t.Fatal(err)
	}
	return home
}
