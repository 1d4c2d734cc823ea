package host_test

import (
	"fmt"
	"testing"
)

// The ledger tells keys apart that one program gives (REL-8).
func TestKeyLabels(t *testing.T) {
	t.Parallel()
	v := startVendor(t, map[string][]script{"m": {jsonAnswer(401, `{"error":{"code":"invalid_api_key"}}`), whole("ok")}})
	h := startHost(t, fmt.Sprintf(`
[providers.p]
plugin = "openai-chat"
base_url = "%s/v1"
api_keys = ["cmd:echo sk-first-0123456", "cmd:echo sk-second-012345"]
[models.m]
provider = "p"
model = "m"
[agents.main]
model = "m"
`, v.URL))
	got, _ := ask(t, h, "main", "hello")
	made, attempts := outcomes(t, h, got.ID)
	if made != "stream auth; whole complete" {
		t.Fatalf("attempts %q", made)
	}
	if a, b := attempts[0].KeyLabel, attempts[1].KeyLabel; a != "cmd:echo" || b != "cmd:echo#2" {
		t.Errorf("labels %q and %q", a, b)
	}
}
