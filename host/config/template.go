package config

import (
	"cmp"
	"strings"
)

// Template returns a commented first config, for `init`. It loads without
// problems in the same environment: keys that are set there are referred to,
// never copied. ollama is the address of an Ollama that was found, "" if none
// was; it is used where there is no key.
func Template(environ []string, ollama string) string {
	known := Recognised(environ)
	var b strings.Builder
	b.WriteString(`# What zchost runs. "zchost config check" finds mistakes in this file,
# "zchost config show" tells what is in force and where it comes from, and
# docs/config.md lists all keys. Each key can also be set by the environment:
# ZCHOST_AGENTS__MAIN__MODEL is the model of [agents.main].

# Who answers.
[agents.main]
`)
	switch {
	case len(known) > 0:
		b.WriteString("model = \"" + known[0].Provider + "\"   # a profile: one of the [models.…] below, or \"demo\"\n")
	case ollama != "":
		b.WriteString("model = \"local\"    # a profile: one of the [models.…] below, or \"demo\"\n")
	default:
		b.WriteString("model = \"demo\"     # built in, needs no network and no key; or one of the [models.…] below\n")
	}
	b.WriteString(`# system = "You are a helpful assistant."
# locale = "en"     # language of markers and notices; without it the reader's
`)
	for _, v := range vendors() {
		active := len(known) > 0 && known[0].Env == v.Env
		b.WriteString("\n" + vendorText(v, active))
	}
	b.WriteString(localText(cmp.Or(ollama, ollamaURL), ollama != "" && len(known) == 0) + templateTools + costText(known) + templateReliability)
	return b.String()
}

// localText is the part of the template for a model on this machine, as a
// comment unless it is used.
func localText(url string, active bool) string {
	text := `[models.local]
provider = "local"
model    = "llama3.2"            # one of those that ` + "`ollama list`" + ` shows
context  = 8192                  # tokens that its window holds; a full one is summarised

[providers.local]
plugin   = "ollama"
base_url = "` + url + `"
options  = { num_ctx = 8192 }    # the same number for Ollama, which cuts off what is longer
`
	if !active {
		text = commented(text)
	}
	return `
# A model on this machine, with Ollama. Any other server that is compatible with
# OpenAI's chat completions has the plugin openai-chat and a base_url with /v1:
# llama.cpp's is http://127.0.0.1:8080/v1.
` + text
}

const templateTools = `
# Tools: an agent has none until it names them. File tools and the shell stay in
# its workspace; calls that may change something ask first.
# [agents.helper]
# model     = "demo"
# tools     = ["read_file", "list_dir", "search_files", "write_file", "edit_file", "mcp:files"]
# approve   = "write"            # or "always", "never"
# workspace = "~/work"           # without it workspace/helper in the home directory
#
# A server of the Model Context Protocol; one elsewhere has a url in place of the command.
# [mcp.files]
# command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]
# env     = { LOG_LEVEL = "text:info", SOME_TOKEN = "env:SOME_TOKEN" }
#
# A tool plugin, for "plugin:weather", and what it may do.
# [tools.weather]
# plugin = "weather"
# allow  = { http = ["geocoding-api.open-meteo.com", "api.open-meteo.com"] }
`

// costText is the part of the template about money. The prices are there for
// their form: those of a vendor would be wrong within weeks.
func costText(known []Known) string {
	v := append(known, vendors()...)[0]
	return `
# What may be spent, and what a million tokens cost. Prices change, so none come
# with zchost: copy them from the vendor's price list. What has no rate is
# unpriced, and "zchost usage" says so.
# [cost]
# currency     = "USD"
# max_per_turn = 0.50            # a warning at 80 %; once it is spent, no request is sent
# max_per_day  = 5.00
#
# [cost.rates."` + v.Provider + "/" + v.Model + `"]
# input      = 1.00              # not the vendor's price: an example
# output     = 2.00
# cache_read = 0.10
`
}

const templateReliability = `
# Retries and clocks; these are the defaults. Each can be set in a [providers.…]
# or [models.…] table too.
# [reliability]
# provider_retries    = 2
# provider_backoff_ms = 500
# turn_deadline       = "10m"
`

// vendorText is the part of the template for one vendor, as a comment unless
// its key is there.
func vendorText(v Known, active bool) string {
	text := `[models.` + v.Provider + `]
provider = "` + v.Provider + `"
model    = "` + v.Model + `"     # any model that your account has
# fallback_models = ["…"]        # asked when the first fails
# fallback = ["local"]           # profiles that are asked after that

[providers.` + v.Provider + `]
plugin   = "` + v.Plugin + `"
base_url = "` + v.BaseURL + `"
api_keys = ["env:` + v.Env + `"]     # a reference, never the key itself; or file:PATH, cmd:COMMAND
`
	if active {
		return "# " + v.Env + " was found in the environment.\n" + text
	}
	return "# With " + v.Env + " in the environment:\n" + commented(text)
}

// commented puts lines into comments.
func commented(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix("# "+strings.TrimPrefix(l, "# "), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
