package host_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/host/journal"
)

// knobCase is a knob whose effect is seen from outside.
type knobCase struct {
	set      string // what the endpoint or the profile sets
	others   string // other keys of the profile
	scripts  []script
	state    journal.State
	outcomes string
	mentions string
	turns    int // before the one that is looked at
}

func knobCases() map[string]knobCase {
	asksToWait := script{status: 500, headers: map[string]string{"Retry-After": "2"}, pieces: []string{"{}"}}
	late := whole("ok")
	late.late = time.Minute
	quiet := script{end: silence}
	quota := jsonAnswer(429, `{"error":{"code":"insufficient_quota","message":"no credit"}}`)
	return map[string]knobCase{
		"retry_after_max": {
			set: `retry_after_max = "1s"`, scripts: []script{asksToWait, whole("ok")},
			state: journal.Failed, outcomes: "stream server", mentions: "try again in 2s",
		},
		"header_timeout": {
			set: `header_timeout = "100ms"`, others: "provider_retries = 0\nidle_timeout = \"100ms\"", scripts: []script{late},
			state: journal.Failed, outcomes: "stream timeout; whole timeout", mentions: "header",
		},
		"turn_deadline": {
			set: `turn_deadline = "1s"`, scripts: []script{quiet},
			state: journal.Failed, outcomes: "stream timeout", mentions: "turn_deadline = 1s",
		},
		"key_cooldown": {
			set: `key_cooldown = "10ms"`, others: `retry_after_max = "1s"`, scripts: []script{quota, whole("ok")}, turns: 1,
			state: journal.Complete, outcomes: "stream complete",
		},
		"provider_retries": {
			set: "provider_retries = 1", scripts: []script{stream()},
			state: journal.Failed, outcomes: "stream truncated; whole truncated; whole truncated", mentions: "3 attempts",
		},
		"completion": {
			set: `completion = "signal"`, scripts: []script{stream(txt("Hi"), fin("stop"))},
			state: journal.Interrupted, outcomes: "stream truncated",
		},
	}
}

// Every knob of [reliability] has its effect where a provider sets it, and
// where a profile does, which goes before its provider's (REL-9).
func TestKnobs(t *testing.T) {
	t.Parallel()
	cases := knobCases()
	scripts := map[string][]script{}
	var config strings.Builder
	fmt.Fprintf(&config, "[reliability]\nprovider_backoff_ms = 1\n")
	v := startVendor(t, scripts)
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		for _, place := range []string{"provider", "profile"} {
			id := name + "-" + place
			scripts[id] = c.scripts
			provider, profile := c.set, ""
			if place == "profile" {
				key, _, _ := strings.Cut(c.set, " ")
				provider, profile = elsewhere()[key], c.set
			}
			fmt.Fprintf(&config, "[providers.%s]\nplugin = \"openai-chat\"\nbase_url = \"%s/v1\"\napi_keys = [\"env:TEST_KEY\"]\n%s\n", id, v.URL, provider)
			fmt.Fprintf(&config, "[models.%s]\nprovider = %q\nmodel = %q\n%s\n%s\n[agents.%s]\nmodel = %q\n", id, id, id, profile, c.others, id, id)
		}
	}
	h := startHost(t, config.String(), "TEST_KEY=sk-test-0123456789")
	for id := range scripts {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			name, _, _ := strings.Cut(id, "-")
			c := cases[name]
			for range c.turns {
				ask(t, h, id, "before")
			}
			got, _ := ask(t, h, id, "hello")
			made, _ := outcomes(t, h, got.ID)
			if got.State != c.state || made != c.outcomes || !strings.Contains(got.Error.Message, c.mentions) {
				t.Errorf("state %s, attempts %q, error %q; want %s, %q, %q", got.State, made, got.Error.Message, c.state, c.outcomes, c.mentions)
			}
		})
	}
}

// elsewhere is what a provider sets that has a profile which sets the same.
func elsewhere() map[string]string {
	return map[string]string{
		"retry_after_max":  `retry_after_max = "30s"`,
		"header_timeout":   `header_timeout = "30s"`,
		"turn_deadline":    `turn_deadline = "30s"`,
		"key_cooldown":     `key_cooldown = "30s"`,
		"provider_retries": "provider_retries = 4",
		"completion":       `completion = "lenient"`,
	}
}

// The limit of an answer reaches the request, of the agent or of the profile.
func TestMaxTokens(t *testing.T) {
	t.Parallel()
	answer := []script{stream(txt("Hi") + fin("stop") + doneSignal)}
	v := startVendor(t, map[string][]script{"agent": answer, "profile": answer})
	h := startHost(t, fmt.Sprintf(`
[providers.p]
plugin = "openai-chat"
base_url = "%s/v1"
[models.agent]
provider = "p"
model = "agent"
[models.profile]
provider = "p"
model = "profile"
max_tokens = 22
[agents.agent]
model = "agent"
max_tokens = 11
[agents.profile]
model = "profile"
max_tokens = 11
`, v.URL))
	for name, want := range map[string]int64{"agent": 11, "profile": 22} {
		ask(t, h, name, "hello")
		if got := v.asked(name)[0].MaxTokens; got != want {
			t.Errorf("%s: max_tokens %d, want %d", name, got, want)
		}
	}
}

// What is learned of a model at a provider serves all agents that use it: the
// second one does not ask what the first one found failing (REL-10).
func TestBreakerIsShared(t *testing.T) {
	t.Parallel()
	v := startVendor(t, map[string][]script{"down": {jsonAnswer(500, "{}")}, "up": {whole("Hi")}})
	config := fmt.Sprintf("[reliability]\nprovider_backoff_ms = 1\nprovider_retries = 4\n[providers.p]\nplugin = \"openai-chat\"\nbase_url = \"%s/v1\"\n", v.URL)
	for _, name := range []string{"one", "two"} {
		config += fmt.Sprintf("[models.%s]\nprovider = \"p\"\nmodel = \"down\"\nfallback_models = [\"up\"]\n[agents.%s]\nmodel = %q\n", name, name, name)
	}
	h := startHost(t, config)
	for _, name := range []string{"one", "two"} {
		if got, shown := ask(t, h, name, "hello"); got.State != journal.Complete || shown != "Hi" || got.Candidate != "p/up" {
			t.Errorf("%s: state %s, %q by %s: %s", name, got.State, shown, got.Candidate, got.Error.Message)
		}
	}
	if n := len(v.asked("down")); n != 6 {
		t.Errorf("the model that is down was asked %d times, want the first turn's 6", n)
	}
}
