package provider_test

import (
	"net/http"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/reliability"
)

// STR-1: where the protocol has no completion signal, the clean end of the body
// after a finish reason is one; a cut is none, nor is an end without a reason.
func TestEndCompletes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body     string
		cut      bool
		protocol bool
		want     bool
	}{
		"finish, then the end":                       {body: "data: x\n\ndata: [FIN]\n\n", protocol: true, want: true},
		"finish, usage, then the end":                {body: "data: [FIN]\n\ndata: ping\n\n", protocol: true, want: true},
		"finish, then a cut":                         {body: "data: [FIN]\n\n", protocol: true, cut: true},
		"no finish, then the end":                    {body: "data: x\n\n", protocol: true},
		"finish, then the end of another protocol's": {body: "data: [FIN]\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := endpoint(t, &plugin{}, func(w http.ResponseWriter, _ *http.Request) {
				streamed(w, c.body)
				if c.cut {
					_ = http.NewResponseController(w).Flush() // the head, too
					panic(http.ErrAbortHandler)
				}
			})
			e.EndCompletes = c.protocol
			s, err := e.Open(t.Context(), reliability.Request{Prompt: prompt("a"), Model: "m", Stream: true})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			done := false
			for err == nil && !done {
				var events []abi.Event
				events, err = s.Next()
				for _, ev := range events {
					done = done || ev.Type == abi.EventDone
				}
			}
			if done != c.want {
				t.Errorf("complete = %t, want %t (%v)", done, c.want, err)
			}
		})
	}
}
