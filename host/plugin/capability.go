package plugin

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/zchost/zchost/abi"
)

// hostModule is the module name of the host's own functions.
const hostModule = abi.HostModule

// Capabilities are what a plugin asks for in the [capabilities] table of its
// manifest, and what an operator allows. A plugin has what is in both.
type Capabilities struct {
	// HTTP are the hosts that it may send requests to.
	HTTP []string `json:"http,omitempty"`
	// KV is a durable store of its own.
	KV bool `json:"kv,omitempty"`
	// Clock is the real time.
	Clock bool `json:"clock,omitempty"`
	// Random is real randomness.
	Random bool `json:"random,omitempty"`
	// Secrets are the names that its requests may hold as placeholders. The
	// values never enter the plugin.
	Secrets []string `json:"secrets,omitempty"`
	// Tools are the tools of the host that it may call.
	Tools []string `json:"tools,omitempty"`
}

// grant is one row of the grants table: all that a capability opens.
type grant struct {
	capability string
	// asked and allowed are what the manifest lists and the operator permits,
	// as names; a capability without names has the one name "".
	names func(Capabilities) []string
	// kinds may have it on this host.
	kinds []abi.Kind
	// covers says whether what the operator permits is enough for what the
	// manifest lists; nil means that they have to be the same.
	covers func(permitted, asked string) bool
	// functions of zchost:host/v1 that it links.
	functions []hostFunc
	// wasi opens what it opens in WASI.
	wasi func(wazero.ModuleConfig) wazero.ModuleConfig
}

// grants is the grants table. What is not in it, no plugin can do: a plugin has
// no files, no network, no environment, no arguments, no clock and no
// randomness.
func grants() []grant {
	all := []abi.Kind{abi.KindProvider, abi.KindChannel, abi.KindHook, abi.KindTool}
	return []grant{
		{
			capability: "clock", names: func(c Capabilities) []string { return flag(c.Clock) }, kinds: all,
			functions: []hostFunc{number("now", now)},
			wasi: func(c wazero.ModuleConfig) wazero.ModuleConfig {
				return c.WithSysWalltime().WithSysNanotime()
			},
		},
		{
			capability: "random", names: func(c Capabilities) []string { return flag(c.Random) }, kinds: all,
			functions: []hostFunc{number("random", random)},
			wasi: func(c wazero.ModuleConfig) wazero.ModuleConfig {
				return c.WithRandSource(rand.Reader)
			},
		},
		// Opens nothing inside: the host puts secrets in after the call.
		{capability: "secrets", names: func(c Capabilities) []string { return c.Secrets }, kinds: all},
		{
			capability: "http", names: func(c Capabilities) []string { return c.HTTP },
			kinds:  []abi.Kind{abi.KindHook, abi.KindTool}, // a provider's requests are the host's to send
			covers: coversHost, functions: httpFunctions(),
		},
		// No kind may have these on this host.
		{capability: "kv", names: func(c Capabilities) []string { return flag(c.KV) }},
		{capability: "tools", names: func(c Capabilities) []string { return c.Tools }},
	}
}

func flag(on bool) []string {
	if on {
		return []string{""}
	}
	return nil
}

// granted returns the rows that the plugin has, and what it asks for and cannot
// have.
func granted(kind abi.Kind, asked, allowed Capabilities) (have []grant, problems []string) {
	for _, g := range grants() {
		names := g.names(asked)
		if len(names) == 0 {
			continue
		}
		if !slices.Contains(g.kinds, kind) {
			problems = append(problems, fmt.Sprintf("capability %s: this host grants it to no %s plugin", g.capability, kind))
			continue
		}
		permitted := g.names(allowed)
		covered := func(name string) bool {
			return slices.ContainsFunc(permitted, func(p string) bool { return p == name || g.covers != nil && g.covers(p, name) })
		}
		for _, name := range names {
			if !covered(name) {
				problems = append(problems, fmt.Sprintf("capability %s is not granted", label(g.capability, name)))
			}
		}
		have = append(have, g)
	}
	return have, problems
}

// coversHost tells whether a host that the operator permits covers one that a
// plugin asks for: "*" covers all, and "*.example.com" what ends with it.
func coversHost(permitted, asked string) bool {
	below, wild := strings.CutPrefix(strings.ToLower(permitted), "*.")
	return permitted == "*" || wild && strings.HasSuffix(strings.ToLower(asked), "."+below) || strings.EqualFold(permitted, asked)
}

func label(capability, name string) string {
	if name == "" {
		return capability
	}
	return fmt.Sprintf("%s %q", capability, name)
}

// now returns the time in Unix milliseconds.
func now(context.Context) uint64 { return uint64(time.Now().UnixMilli()) }

// random returns 64 random bits.
func random(context.Context) uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, says crypto/rand
	return binary.LittleEndian.Uint64(b[:])
}
