package config

import "strings"

// Template returns a commented first config, for `init`. It loads without
// problems in the same environment: keys that are set there are referred to,
// never copied.
func Template(environ []string) string {
	known := Recognised(environ)
	var b strings.Builder
	b.WriteString(`# What zchost runs. "zchost config check" finds mistakes in this file,
# "zchost config show" tells what is in force and where it comes from, and
# docs/config.md lists all keys. Each key can also be set by the environment:
# ZCHOST_AGENTS__MAIN__MODEL is the model of [agents.main].

# Who answers.
[agents.main]
`)
	if len(known) > 0 {
		b.WriteString("model = \"" + known[0].Provider + "\"   # a profile: one of the [models.…] below, or \"demo\"\n")
	} else {
		b.WriteString("model = \"demo\"     # built in, needs no network and no key; or one of the [models.…] below\n")
	}
	b.WriteString(`# system = "You are a helpful assistant."
# locale = "en"     # language of markers and notices; without it the reader's
`)
	for _, v := range vendors() {
		active := len(known) > 0 && known[0].Env == v.Env
		b.WriteString("\n" + vendorText(v, active))
	}
	b.WriteString(`
# A model on this machine. Ollama listens on port 11434, the server of
# llama.cpp on 8080.
# [models.local]
# provider = "local"
# model    = "llama3.2"
#
# [providers.local]
# plugin   = "openai-chat"
# base_url = "http://127.0.0.1:11434/v1"

# Retries and clocks; these are the defaults. Each can be set in a [providers.…]
# or [models.…] table too.
# [reliability]
# provider_retries    = 2
# provider_backoff_ms = 500
# turn_deadline       = "10m"
`)
	return b.String()
}

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
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix("# "+strings.TrimPrefix(l, "# "), " ")
	}
	return "# With " + v.Env + " in the environment:\n" + strings.Join(lines, "\n") + "\n"
}
