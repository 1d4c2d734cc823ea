package config_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zchost/zchost/host/config"
)

// TestCandidates expands a profile: its model, its fallback models, then each
// fallback profile in the same way, without repetitions (REL-1).
func TestCandidates(t *testing.T) {
	t.Parallel()
	c := config.Config{Models: map[string]config.Model{
		"fast":  {Provider: "openai", Model: "a", FallbackModels: []string{"b", "a"}, Fallback: []string{"local", "big"}},
		"local": {Provider: "local", Model: "l", Fallback: []string{"big"}},
		"big":   {Provider: "openai", Model: "c", FallbackModels: []string{"b"}},
		"one":   {Provider: "p", Model: "m"},
		"loop":  {Provider: "p", Model: "m", Fallback: []string{"loop"}},
		"gone":  {Provider: "p", Model: "m", Fallback: []string{"nowhere"}},
		"d0":    {Provider: "p", Model: "0", Fallback: []string{"d1"}},
		"d1":    {Provider: "p", Model: "1", Fallback: []string{"d2"}},
		"d2":    {Provider: "p", Model: "2", Fallback: []string{"d3"}},
		"d3":    {Provider: "p", Model: "3", Fallback: []string{"one"}},
	}}
	for profile, want := range map[string][]string{
		"fast": {"fast openai/a", "fast openai/b", "local local/l", "big openai/c"},
		"one":  {"one p/m"},
		"d1":   {"d1 p/1", "d2 p/2", "d3 p/3", "one p/m"},
		"d0":   nil,
		"loop": nil,
		"gone": nil,
		"none": nil,
	} {
		list, err := c.Candidates(profile)
		if (err != nil) != (want == nil) {
			t.Errorf("%s: error %v", profile, err)
		}
		var got []string
		for _, k := range list {
			got = append(got, k.Profile+" "+k.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", profile, diff)
		}
	}
}

// TestCandidatesOfAnyGraph: whatever Load lets through, each profile has
// candidates, none twice, the profile's own first; and what it refuses because
// of fallbacks cannot be expanded somewhere (REL-1).
func TestCandidatesOfAnyGraph(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "profiles")
		text := "[providers.p]\nplugin = \"demo\"\n[agents.main]\nmodel = \"m0\"\n"
		for i := range n {
			next := rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 2).Draw(rt, "fallback")
			text += fmt.Sprintf("[models.m%d]\nprovider = \"p\"\nmodel = \"x%d\"\nfallback = [", i, i)
			for _, f := range next {
				text += fmt.Sprintf("\"m%d\",", f)
			}
			text += "]\n"
		}
		c, err := load(t, text)
		if err != nil {
			return
		}
		for name := range c.Models {
			list, err := c.Candidates(name)
			if err != nil || len(list) == 0 || list[0].Profile != name {
				rt.Fatalf("%s of\n%s: %v, error %v", name, text, list, err)
			}
			seen := map[string]bool{}
			for _, k := range list {
				if seen[k.String()] {
					rt.Fatalf("%s twice in %v", k, list)
				}
				seen[k.String()] = true
			}
		}
	})
}

// TestKnobs: the narrowest wins, one knob at a time (REL-9).
func TestKnobs(t *testing.T) {
	t.Parallel()
	c, err := load(t, `
[reliability]
provider_retries = 5
provider_backoff_ms = 100
header_timeout = "1s"
completion = "signal"
[providers.p]
plugin = "demo"
provider_retries = 4
header_timeout = "2s"
[models.m]
provider = "p"
model = "x"
header_timeout = "3s"
completion = "lenient"
idle_timeout = "4s"
`)
	if err != nil {
		t.Fatal(err)
	}
	common := config.Knobs{
		ProviderRetries: 5, ProviderBackoff: 100 * time.Millisecond, RetryAfterMax: time.Minute, TurnDeadline: 10 * time.Minute,
		HeaderTimeout: time.Second, ProgressTimeout: 10 * time.Minute, Completion: config.CompletionSignal, KeyCooldown: time.Minute,
	}
	provider := common
	provider.ProviderRetries, provider.HeaderTimeout = 4, 2*time.Second
	profile := provider
	profile.HeaderTimeout, profile.Completion, profile.IdleTimeout = 3*time.Second, config.CompletionLenient, 4*time.Second
	for _, tt := range []struct {
		provider, profile string
		want              config.Knobs
	}{
		{"", "", common},
		{"none", "none", common},
		{"p", "", provider},
		{"p", "m", profile},
	} {
		if diff := cmp.Diff(tt.want, c.Knobs(tt.provider, tt.profile)); diff != "" {
			t.Errorf("%s, %s: %s", tt.provider, tt.profile, diff)
		}
	}
}

// TestSampling: a profile's own value goes before the agent's.
func TestSampling(t *testing.T) {
	t.Parallel()
	warm, cold := 1.0, 0.0
	c := config.Config{
		Agents: map[string]config.Agent{"a": {MaxTokens: 10, Temperature: &warm}, "b": {}},
		Models: map[string]config.Model{"own": {MaxTokens: 5, Temperature: &cold}, "none": {}},
	}
	for _, tt := range []struct {
		agent, profile string
		want           config.Sampling
	}{
		{"a", "none", config.Sampling{MaxTokens: 10, Temperature: &warm}},
		{"a", "own", config.Sampling{MaxTokens: 5, Temperature: &cold}},
		{"b", "own", config.Sampling{MaxTokens: 5, Temperature: &cold}},
		{"b", "none", config.Sampling{}},
	} {
		if diff := cmp.Diff(tt.want, c.Sampling(tt.agent, tt.profile)); diff != "" {
			t.Errorf("%s, %s: %s", tt.agent, tt.profile, diff)
		}
	}
}
