package config

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/language"
)

// checker looks at what one key alone does not tell.
type checker struct {
	config *Config
	report *report
	lost   loss
}

func (k *checker) all(names []reference) {
	for _, n := range names {
		k.name(n)
	}
	for _, name := range slices.Sorted(maps.Keys(k.config.Agents)) {
		k.agent(name)
	}
	for _, name := range slices.Sorted(maps.Keys(k.config.Models)) {
		k.model(name)
	}
	for _, name := range slices.Sorted(maps.Keys(k.config.Providers)) {
		k.provider(name)
	}
	k.fallbacks()
	k.tools()
	k.cost()
	if len(k.report.list) == 0 {
		k.credentials()
	}
}

func (k *checker) add(key, msg, hint string) {
	k.report.add(k.config.Origin(key), key, msg, hint)
}

// names returns the names of the tables that another table refers to.
func (k *checker) names(table string) []string {
	switch table {
	case "models":
		return slices.Sorted(maps.Keys(k.config.Models))
	case "providers":
		return slices.Sorted(maps.Keys(k.config.Providers))
	case "mcp":
		return slices.Sorted(maps.Keys(k.config.MCP))
	case "tools":
		return slices.Sorted(maps.Keys(k.config.Tools))
	}
	return nil
}

// name reports a dangling name (REL-1).
func (k *checker) name(n reference) {
	valid := k.names(n.table)
	if k.lost == lostRest || slices.Contains(valid, n.name) {
		return
	}
	msg := fmt.Sprintf("there is no [%s]", join(n.table, n.name))
	if !isName(n.name) {
		msg = quote(cut(n.name)) + " is no name of a [" + n.table + ".NAME] table"
	}
	hint := suggest(n.name, valid)
	if hint == "" {
		hint = "add the table"
	}
	k.report.add(n.at, n.path, msg, hint)
}

// missing reports a key that must be there, unless its absence follows from
// another problem.
func (k *checker) missing(key, hint string) {
	for _, p := range k.report.list {
		if p.Key == key || p.Key != "" && strings.HasPrefix(key, p.Key+".") {
			return
		}
	}
	if k.lost == lostNothing {
		k.add(key, "this key is missing", hint)
	}
}

func (k *checker) agent(name string) {
	a, path := k.config.Agents[name], join("agents", name)
	if a.Model == "" {
		k.missing(path+".model", suggest("", slices.Collect(maps.Keys(k.config.Models))))
	}
	if a.Locale != "" {
		if _, err := language.Parse(a.Locale); err != nil {
			k.add(path+".locale", "this is no language tag", `write it as "en" or "pt-BR"`)
		}
	}
	if a.SystemFile == "" {
		return
	}
	if a.System != "" {
		k.add(path+".system_file", "system is set too", "keep one of the two")
		return
	}
	text, err := k.systemFile(a.SystemFile)
	if err != nil {
		k.add(path+".system_file", err.Error(), "")
		return
	}
	a.System = text
	k.config.Agents[name] = a
}

func (k *checker) systemFile(path string) (string, error) {
	path, err := k.config.expand(path)
	if err != nil {
		return "", err
	}
	data, err := readBounded(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %s", path, reason(err))
	case !utf8.Valid(data):
		return "", fmt.Errorf("%s: the file is not UTF-8", path)
	}
	return strings.TrimPrefix(string(data), "\ufeff"), nil
}

func (k *checker) model(name string) {
	m, path := k.config.Models[name], join("models", name)
	if m.Provider == "" {
		k.missing(path+".provider", suggest("", slices.Collect(maps.Keys(k.config.Providers))))
	}
	if m.Model == "" {
		k.missing(path+".model", "write the model's name as the provider has it")
	}
}

func (k *checker) provider(name string) {
	p, path := k.config.Providers[name], join("providers", name)
	if p.Plugin == "" {
		k.missing(path+".plugin", "write the name of the plugin, as openai-chat; `zchost plugin list` shows them")
	}
	if p.BaseURL == "" {
		return
	}
	if msg, hint := checkURL(p.BaseURL); msg != "" {
		k.add(path+".base_url", msg, hint)
	}
	p.BaseURL = strings.TrimRight(p.BaseURL, "/")
	k.config.Providers[name] = p
}

// credentials reports providers that an agent may ask and whose vendor is
// known to want a key, when there is none (REL-1).
func (k *checker) credentials() {
	for name, p := range k.config.Providers {
		for _, v := range vendors() {
			if v.serves(p) && len(p.APIKeys) == 0 && k.asked(name) {
				k.add(join("providers", name)+".api_keys", "there is no key",
					"set "+v.Env+" in the environment, or write where the key is, as [\"file:~/key\"]")
			}
		}
	}
}

// asked reports whether a provider is among an agent's candidates.
func (k *checker) asked(provider string) bool {
	for _, a := range k.config.Agents {
		list, err := k.config.Candidates(a.Model)
		if err == nil && slices.ContainsFunc(list, func(c Candidate) bool { return c.Provider == provider }) {
			return true
		}
	}
	return false
}

// checkURL says what is wrong with a base_url. It does not repeat it: there may
// be a password in it.
func checkURL(s string) (msg, hint string) {
	const example = `write it as "https://api.example.com/v1"`
	u, err := url.Parse(s)
	switch {
	case strings.Contains(s, "${"):
		return "variables are not put into values", "set the whole key by its ZCHOST_ variable"
	case strings.ContainsAny(s, " \t\r\n"):
		return "there is a blank in the address", example
	case err != nil || u.Host == "" && u.Scheme == "":
		return "this is no absolute address", example
	case u.Scheme != "https" && u.Scheme != "http":
		return "the address starts with neither https:// nor http://", example
	case u.Hostname() == "":
		return "the address has no host", example
	case u.User != nil:
		return "there is a name or password in the address", "put the key into api_keys, as env:NAME"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "the address goes on after the path", "take away everything from \"?\" or \"#\" on"
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"):
		return "the address goes down to one call", "take /chat/completions away: the plugin adds it"
	}
	return "", ""
}

// fallbacks reports cycles and rows that are too deep, each once (REL-1).
func (k *checker) fallbacks() {
	depth := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(k.config.Models)) {
		k.depth(name, depth)
	}
}

// onPath marks a profile whose fallbacks are being looked at.
const onPath = -1

// depth returns how many fallbacks follow a profile in the longest row.
func (k *checker) depth(name string, known map[string]int) int {
	if d, ok := known[name]; ok {
		return d
	}
	known[name] = onPath
	longest := 0
	for i, next := range k.config.Models[name].Fallback {
		d := k.depth(next, known)
		key := fmt.Sprintf("%s.fallback[%d]", join("models", name), i)
		if d == onPath {
			k.add(key, "the fallbacks go round in a circle", "take this one away")
			continue
		}
		if d == maxDepth {
			k.add(key, fmt.Sprintf("more than %d fallbacks in a row", maxDepth), "make the row shorter")
		}
		longest = max(longest, d+1)
	}
	known[name] = longest
	return longest
}
