package host_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/turn"
)

// A turn whose end cannot be stored when the host closes leaves nothing behind
// that would go on trying: TestMain looks for it.
func TestCloseWithoutJournal(t *testing.T) {
	t.Parallel()
	v := startVendor(t, map[string][]script{"m": {{pieces: slices.Repeat([]string{txt("a")}, 5000), gap: time.Millisecond}}})
	home := newHome(t, fmt.Sprintf("[providers.p]\nplugin = \"openai-chat\"\nbase_url = \"%s/v1\"\n[models.m]\nprovider = \"p\"\nmodel = \"m\"\n[agents.main]\nmodel = \"m\"\n", v.URL))
	h, err := host.Start(t.Context(), host.Options{Home: home, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := h.Send(t.Context(), turn.Message{Session: "s", Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Events(t.Context(), got.ID, 0)
	for seen := ""; err == nil && !strings.Contains(seen, "a"); {
		events, next := r.Next(t.Context())
		for _, e := range events {
			seen += e.Text
		}
		err = next
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Journal().Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = h.Shutdown() // it cannot store the turn's end, and may say so
}
