package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zchost/zchost/abi"
)

// The modules that a plugin may import from, apart from hostModule.
const (
	extismModule = "extism:host/env"
	wasiModule   = "wasi_snapshot_preview1"
)

// requiredExports are the exports that a plugin with this manifest must have.
func requiredExports(m Manifest) []string {
	switch m.Kind {
	case abi.KindProvider:
		names := []string{
			abi.ExportChatMessages, abi.ExportChatRequest, abi.ExportChatEvents,
			abi.ExportChatResponse, abi.ExportChatError,
		}
		if m.Provider.ListsModels {
			names = append(names, abi.ExportModelsRequest, abi.ExportModelsResponse)
		}
		return names
	case abi.KindChannel:
		return channelExports(m.Channel)
	case abi.KindHook:
		return []string{"before_agent_reply"}
	case abi.KindTool:
		return []string{abi.ExportTools, abi.ExportCall}
	}
	return nil
}

func channelExports(c *Channel) []string {
	names := []string{"receive", "send", "sent"}
	for _, option := range []struct {
		on    bool
		names []string
	}{
		{slices.Contains(c.Modes, ModePoll), []string{"poll"}},
		{slices.Contains(c.Modes, ModeSocket), []string{"connect", "connected"}},
		{c.Edits, []string{"draft"}},
		{c.Typing, []string{"typing"}},
		{c.Reconcile, []string{"reconcile", "reconciled"}},
	} {
		if option.on {
			names = append(names, option.names...)
		}
	}
	return names
}

// callable reports whether the host can call an export: no parameters, and a
// number as the result or none.
func callable(s signature) bool {
	return s.params == "" && (s.results == "" || s.results == string([]byte{valueI32}))
}

// checkExports returns what is missing for the manifest.
func checkExports(mod *module, m Manifest) (problems []string) {
	for _, name := range requiredExports(m) {
		switch sig, ok := mod.exports[name]; {
		case !ok:
			problems = append(problems, fmt.Sprintf("plugin.wasm does not export %s, which a %s plugin must", name, m.Kind))
		case !callable(sig):
			problems = append(problems, fmt.Sprintf("plugin.wasm exports %s, but not as a function without parameters that returns an i32", name))
		}
	}
	return problems
}

// checkImports returns what the module wants and does not get. known are the
// functions of each module that it may import from.
func checkImports(mod *module, io abi.IO, known map[string]map[string]signature) (problems []string) {
	foreign := map[string]bool{}
	for _, i := range mod.imports {
		functions, allowed := known[i.module]
		sig, exists := functions[i.name]
		switch {
		case !allowed:
			if !foreign[i.module] {
				foreign[i.module] = true
				problems = append(problems, fmt.Sprintf("plugin.wasm imports from %q; it may import from %s",
					printable(i.module), strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
			}
		case i.kind != externFunc:
			problems = append(problems, fmt.Sprintf("plugin.wasm imports %s.%s, which is not a function", i.module, printable(i.name)))
		case !exists && i.module == hostModule:
			problems = append(problems, missingGrant(i.name, io))
		case !exists:
			problems = append(problems, fmt.Sprintf("plugin.wasm imports %s.%s, which does not exist", i.module, printable(i.name)))
		case sig != i.sig:
			problems = append(problems, fmt.Sprintf("plugin.wasm imports %s.%s with another type than it has", i.module, i.name))
		}
	}
	return problems
}

// missingGrant says why a function of the host is not linked.
func missingGrant(name string, io abi.IO) string {
	for _, g := range grants() {
		for _, f := range g.functions {
			if f.name != name {
				continue
			}
			if _, ok := f.sig(io); !ok {
				return fmt.Sprintf("plugin.wasm imports %s.%s, which there is not with io = %q", hostModule, name, io)
			}
			return fmt.Sprintf("plugin.wasm imports %s.%s, which needs the capability %s", hostModule, name, g.capability)
		}
	}
	return fmt.Sprintf("plugin.wasm imports %s.%s, which this host does not have", hostModule, printable(name))
}

// imports returns the functions that a plugin with these grants may import.
func imports(m Manifest, have []grant, wasi map[string]signature) map[string]map[string]signature {
	own := map[string]signature{}
	for _, g := range have {
		for _, f := range g.functions {
			if sig, ok := f.sig(m.IO); ok {
				own[f.name] = sig
			}
		}
	}
	known := map[string]map[string]signature{wasiModule: wasi, hostModule: own}
	if m.IO == abi.IOExtism {
		known[extismModule] = extismFunctions()
	}
	return known
}

// checkMemory refuses a module that needs more to start than it may have. A
// large maximum is no harm: it is a wish.
func checkMemory(mod *module, limits Limits) []string {
	if most := uint64(limits.Memory) << 20; mod.minPages > most/pageSize { //nolint:gosec // at most 2 GiB
		return []string{fmt.Sprintf("plugin.wasm needs %d pages of memory (%d MiB) to start, its limit is %d MiB",
			mod.minPages, mod.minPages*pageSize>>20, limits.Memory)}
	}
	return nil
}

// effectiveConfig checks the settings against the manifest's schema and fills
// in its defaults. The result is JSON with its keys in order.
func effectiveConfig(m Manifest, config []byte) (json.RawMessage, error) {
	settings := map[string]any{} // open: the schema says what is in it
	if len(config) > 0 {
		if err := json.Unmarshal(config, &settings); err != nil {
			return nil, fmt.Errorf("config: it is not a JSON object: %w", err)
		}
	}
	if m.Config == nil {
		if len(settings) > 0 {
			return nil, errors.New("config: the plugin has no settings")
		}
		return json.RawMessage("{}"), nil
	}
	schema, err := resolveSchema(m.Config)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	if err := schema.ApplyDefaults(&settings); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	if err := schema.Validate(settings); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return text, nil
}

// effectiveLimits are the manifest's under the operator's caps.
func effectiveLimits(asked, caps Limits) (Limits, []string) {
	caps = caps.withDefaults()
	var problems []string
	if caps.Memory < minMemory {
		problems = append(problems, fmt.Sprintf("the limit memory_mb is capped at %d; no plugin runs with less than %d", caps.Memory, minMemory))
	}
	return Limits{
		Memory:      min(asked.Memory, caps.Memory),
		CallTimeout: min(asked.CallTimeout, caps.CallTimeout),
		Output:      min(asked.Output, caps.Output),
	}, problems
}

// withDefaults fills in the caps that an operator did not set: 256 MiB of
// memory, 30 s, 64 MiB of output.
func (l Limits) withDefaults() Limits {
	if l.Memory == 0 {
		l.Memory = 256
	}
	if l.CallTimeout == 0 {
		l.CallTimeout = defaultTimeoutCap
	}
	if l.Output == 0 {
		l.Output = 64 << 20
	}
	return l
}

// extismFunctions are the functions of Extism's extism:host/env, as its
// go-sdk 1.7.1 links them.
func extismFunctions() map[string]signature {
	const i, l = "\x7f", "\x7e" // i32, i64
	all := map[string]signature{}
	for sig, names := range map[signature][]string{
		{"", l}:     {"input_length", "input_offset", "output_length", "output_offset", "error_get", "memory_bytes", "http_headers"},
		{l, l}:      {"alloc", "length", "length_unsafe", "input_load_u64", "load_u64", "config_get", "var_get"},
		{l, i}:      {"load_u8", "input_load_u8"},
		{l, ""}:     {"free", "error_set", "log_trace", "log_debug", "log_info", "log_warn", "log_error"},
		{l + l, ""}: {"store_u64", "input_set", "output_set", "var_set"},
		{l + i, ""}: {"store_u8"},
		{l + l, l}:  {"http_request"},
		{"", ""}:    {"reset"},
		{"", i}:     {"http_status_code", "get_log_level"},
	} {
		for _, name := range names {
			all[name] = sig
		}
	}
	return all
}
