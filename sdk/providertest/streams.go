package providertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

// decode gives frames to chat_events, as many in each call as counts say, and
// the rest in a last call.
func (r runner) decode(t *testing.T, frames []Frame, counts ...int) []abi.Event {
	t.Helper()
	var events []abi.Event
	state := ""
	for len(frames) > 0 {
		n := len(frames)
		if len(counts) > 0 {
			n, counts = min(n, counts[0]), counts[1:]
		}
		var got []abi.Event
		state, got = r.events(t, state, frames[:n])
		events = append(events, got...)
		frames = frames[n:]
	}
	return events
}

// events makes one call of chat_events.
func (r runner) events(t *testing.T, state string, frames []Frame) (next string, events []abi.Event) {
	t.Helper()
	header := abi.EventsHeader{State: state}
	if slices.ContainsFunc(frames, func(f Frame) bool { return f.Name != "" }) {
		for _, f := range frames {
			header.Names = append(header.Names, f.Name)
		}
	}
	in := abi.AppendHeader(nil, &header)
	for _, f := range frames {
		in = abi.AppendRecord(in, []byte(f.Data))
	}
	seq := r.call(t, abi.ExportChatEvents, in)
	for n := 0; ; n++ {
		text, rest, ok, err := abi.NextRecord(seq)
		switch {
		case err != nil:
			t.Fatalf("chat_events returns %s: %v", short(seq), err)
		case !ok && n == 0:
			t.Fatal("chat_events returns no header")
		case !ok:
			return next, events
		case n == 0:
			next = readState(t, text)
		default:
			var e abi.Event
			if err := e.DecodeJSON(text); err != nil {
				t.Fatalf("chat_events returns the event %s: %v", short(text), err)
			}
			checkEvent(t, e)
			events = append(events, e)
		}
		seq = rest
	}
}

func readState(t *testing.T, text []byte) string {
	t.Helper()
	var h abi.EventsHeader
	if err := h.DecodeJSON(text); err != nil {
		t.Fatalf("chat_events returns the header %s: %v", short(text), err)
	}
	if len(h.State) > abi.MaxState {
		t.Errorf("the state has %d bytes", len(h.State))
	}
	return h.State
}

// streams: the same events however the frames are spread over calls, and
// whatever other stream is read in between.
func (r runner) streams(t *testing.T) {
	for _, s := range r.suite.Streams {
		t.Run(s.Name, func(t *testing.T) {
			whole := r.decode(t, s.Frames)
			if diff := cmp.Diff(s.Want, whole); s.Want != nil && diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			ones := slices.Repeat([]int{1}, len(s.Frames))
			if diff := cmp.Diff(whole, r.decode(t, s.Frames, ones...)); diff != "" {
				t.Errorf("events differ with one frame in each call (-together +alone):\n%s", diff)
			}
			for cut := 1; cut < min(len(s.Frames), 50); cut++ {
				if diff := cmp.Diff(whole, r.decode(t, s.Frames, cut)); diff != "" {
					t.Fatalf("events differ when frame %d begins a call (-together +cut):\n%s", cut, diff)
				}
			}
			checkOrder(t, whole)
			r.sentBack(t, whole)
		})
	}
	r.interleaved(t)
}

// interleaved reads all streams at once, a frame of each in turn.
func (r runner) interleaved(t *testing.T) {
	states := make([]string, len(r.suite.Streams))
	events := make([][]abi.Event, len(r.suite.Streams))
	for n, more := 0, true; more; n++ {
		more = false
		for i, s := range r.suite.Streams {
			if n >= len(s.Frames) {
				continue
			}
			more = true
			var got []abi.Event
			states[i], got = r.events(t, states[i], s.Frames[n:n+1])
			events[i] = append(events[i], got...)
		}
	}
	for i, s := range r.suite.Streams {
		if diff := cmp.Diff(r.decode(t, s.Frames), events[i]); diff != "" {
			t.Errorf("events of %s differ when other streams are read in between (-alone +between):\n%s", s.Name, diff)
		}
	}
}

// checkOrder: nothing but usage comes between finish and done, and nothing
// after done.
func checkOrder(t *testing.T, events []abi.Event) {
	t.Helper()
	done := slices.IndexFunc(events, func(e abi.Event) bool { return e.Type == abi.EventDone })
	if done >= 0 && done != len(events)-1 {
		t.Errorf("%s follows done", events[done+1].Type)
	}
}

// junkFrames: what is not JSON is the provider's failure; the plugin neither
// fails itself nor takes it for the end.
func (r runner) junkFrames(t *testing.T) {
	for _, data := range []string{
		"{", `{"a`, "[1,", "tru", "<html><body>502</body></html>", "\xff\xfe\x00", "[DONE", "}", "\ufeff{", strings.Repeat("[", 10000),
	} {
		failed := false
		for _, e := range r.decode(t, []Frame{{Data: data}}) {
			failed = failed || e.Type == abi.EventFailure
			if e.Type == abi.EventDone {
				t.Errorf("the frame %q counts as the end", short([]byte(data)))
			}
		}
		if !failed {
			t.Errorf("the frame %q is no failure", short([]byte(data)))
		}
	}
	for _, data := range []string{
		"{}", "[]", "null", "true", "0", `""`, `"text"`, `{"error":null}`, `{"error":{}}`, `{"error":[]}`, `{"choices":{}}`, `{"choices":[null]}`,
		`{"type":[]}`, `{"usage":-1}`, `{"message":1e999}`, `{"delta":{"content":{}}}`, `{"":{"":[{}]}}`,
	} {
		r.decode(t, []Frame{{Data: data}})
		r.decode(t, []Frame{{Data: data, Name: "error"}})
		r.decode(t, []Frame{{Data: data, Name: "of_a_later_version"}})
	}
	for _, s := range r.suite.Streams {
		for _, f := range s.Frames {
			for cut := range min(len(f.Data), 300) {
				r.events(t, "", []Frame{{Data: f.Data[:cut] + "x", Name: f.Name}})
			}
		}
	}
}
