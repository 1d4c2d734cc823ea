package host_test

import (
	"fmt"
	"testing"

	"github.com/zchost/zchost/host/journal"
)

// A fallback's answer says so wherever it is stored (CST-4).
func TestFallbackIsStored(t *testing.T) {
	t.Parallel()
	v := startVendor(t, map[string][]script{
		"big":   {jsonAnswer(404, `{"error":{"code":"model_not_found","message":"gone"}}`)},
		"small": {whole("from small")},
	})
	h := startHost(t, fmt.Sprintf(`
[providers.p]
plugin = "openai-chat"
base_url = "%s/v1"
[models.m]
provider = "p"
model = "big"
fallback_models = ["small"]
[agents.main]
model = "m"
`, v.URL))
	got, text := ask(t, h, "main", "hello")
	if got.State != journal.Complete || got.Candidate != "p/small" || !got.Fallback || text != "from small" {
		t.Errorf("state %s, candidate %s, fallback %v, text %q", got.State, got.Candidate, got.Fallback, text)
	}
	messages, err := h.Journal().Messages(t.Context(), got.SessionID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if last := messages[len(messages)-1]; last.Candidate != "p/small" || !last.Fallback {
		t.Errorf("the message is of %s, fallback %v", last.Candidate, last.Fallback)
	}
}
