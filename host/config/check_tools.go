package config

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
)

// tools looks at what agents have of tools, and where these come from.
func (k *checker) tools() {
	for _, name := range slices.Sorted(maps.Keys(k.config.Agents)) {
		k.agentTools(k.config.Agents[name], join("agents", name))
	}
	for _, name := range slices.Sorted(maps.Keys(k.config.Tools)) {
		k.tool(k.config.Tools[name], join("tools", name))
	}
	for _, name := range slices.Sorted(maps.Keys(k.config.MCP)) {
		k.server(k.config.MCP[name], join("mcp", name))
	}
}

func (k *checker) agentTools(a Agent, path string) {
	if a.Workspace != "" {
		if _, err := k.config.expand(a.Workspace); err != nil {
			k.add(path+".workspace", err.Error(), "write the whole path")
		}
	}
	seen := map[string]bool{}
	for i, text := range a.Tools {
		key := fmt.Sprintf("%s.tools[%d]", path, i)
		switch {
		case text == "":
			continue // reported while decoding
		case seen[text]:
			k.add(key, quote(cut(text))+" is in the list twice", "keep one of the two")
		default:
			k.toolRef(text, key)
		}
		seen[text] = true
	}
}

// toolRef reports a tool that there is not.
func (k *checker) toolRef(text, key string) {
	ref := ParseToolRef(text)
	table := ""
	switch ref.Source {
	case SourceCore:
		k.coreTool(ref.Name, key)
		return
	case SourceMCP:
		table = "mcp"
	case SourcePlugin:
		table = "tools"
	}
	if strings.HasSuffix(text, "/") {
		k.add(key, "the name of the tool is missing after the slash", "take the slash away for all tools of "+ref.Name)
		return
	}
	k.name(reference{key, table, ref.Name, k.config.Origin(key)})
}

// coreTool reports a name that is no core tool's. One that is a server's or a
// plugin's lacks what goes before it.
func (k *checker) coreTool(name, key string) {
	if slices.Contains(CoreTools(), name) {
		return
	}
	hint := suggest(name, CoreTools())
	for _, source := range []ToolRef{{Source: SourceMCP, Name: name}, {Source: SourcePlugin, Name: name}} {
		table := "mcp"
		if source.Source == SourcePlugin {
			table = "tools"
		}
		if slices.Contains(k.names(table), name) {
			hint = "did you mean " + quote(source.String()) + "?"
		}
	}
	k.add(key, "there is no tool "+quote(cut(name)), hint)
}

func (k *checker) tool(t Tool, path string) {
	if t.Plugin == "" {
		k.missing(path+".plugin", "write the name of the plugin; `zchost plugin list` shows them")
	}
	for i, host := range t.Allow.Private {
		if !slices.ContainsFunc(t.Allow.HTTP, func(h string) bool { return covers(h, host) }) {
			k.add(fmt.Sprintf("%s.allow.private[%d]", path, i), "this host is not in http", "add it there, too")
		}
	}
}

// covers reports whether an entry of http takes a host in.
func covers(entry, host string) bool {
	if entry == "*" {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil && entry == name {
		return true
	}
	suffix, wild := strings.CutPrefix(entry, "*")
	return entry == host || wild && strings.HasSuffix(host, suffix)
}

func (k *checker) server(m MCP, path string) {
	isSet := func(key string) bool { _, ok := k.config.origins[path+"."+key]; return ok }
	command, address := isSet("command"), isSet("url")
	switch {
	case command && address:
		k.add(path+".url", "command is set too", "keep one of the two")
		return
	case !command && !address:
		k.missing(path+".command", `write the program and its arguments, as ["npx", "-y", "PACKAGE"], or the server's url`)
		return
	}
	var foreign []string
	if command {
		foreign = []string{"headers", "token"}
		k.command(m.Command, path+".command")
	} else {
		foreign = []string{"env", "dir"}
		if msg, hint := checkServerURL(m.URL); msg != "" && m.URL != "" {
			k.add(path+".url", msg, hint)
		}
		for name := range m.Headers {
			if m.Token != "" && strings.EqualFold(name, "Authorization") {
				k.add(path+".headers."+name, "token is set too", "keep one of the two")
			}
		}
	}
	for _, key := range foreign {
		if isSet(key) {
			other := map[bool]string{true: "url", false: "command"}[command]
			k.add(path+"."+key, "this is for a server with "+other, "take it away")
		}
	}
}

func (k *checker) command(command []string, path string) {
	if len(command) == 0 || strings.TrimSpace(command[0]) == "" {
		k.missing(path+"[0]", "write the program first, then its arguments")
		return
	}
	if len(command) == 1 && strings.Contains(command[0], " ") && !strings.ContainsAny(command[0], `/\`) {
		k.add(path+"[0]", "this is a whole command line in one text", "write each word as a text of its own")
	}
	for i, word := range command {
		name, value, ok := strings.Cut(word, "=")
		if isSecret("", word) || ok && isNamedSecret(name, value) {
			k.add(fmt.Sprintf("%s[%d]", path, i), "a secret is written here in place of a reference",
				"give it to the command in env, as { NAME = \"env:NAME\" }, and change the secret")
		}
	}
}

// checkServerURL says what is wrong with the url of an MCP server, without
// repeating it.
func checkServerURL(s string) (msg, hint string) {
	u, err := url.Parse(s)
	const inHeaders = `write where it is into token, as "env:NAME", or into headers, and change it`
	switch {
	case err != nil || u.Host == "" && u.Scheme == "":
		return "this is no absolute address", `write it as "https://mcp.example.com/mcp"`
	case u.User != nil:
		return "there is a name or password in the address", inHeaders
	case u.Fragment != "":
		return "the address goes on after the path", `take away everything from "#" on`
	}
	for name, values := range u.Query() {
		for _, value := range values {
			if isNamedSecret(name, value) {
				return "there is a secret in the address", inHeaders
			}
		}
	}
	u.RawQuery, u.ForceQuery = "", false
	return checkURL(u.String())
}
