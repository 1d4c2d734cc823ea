package config

import (
	"net"
	"strconv"
	"strings"

	"github.com/zchost/zchost/host/cost"
)

// nameForm is what the names in a table or list look like.
type nameForm string

// The forms; the empty one is that of agents, profiles and providers.
const (
	nameServer   nameForm = "server"   // begins the names of tools
	nameVariable nameForm = "variable" // of an environment variable
	nameHeader   nameForm = "header"   // of an HTTP header
	nameRate     nameForm = "rate"     // "provider/model"
)

// pattern is the form as a regular expression, for the schema.
func (f nameForm) pattern() string {
	switch f {
	case nameServer:
		return `^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`
	case nameVariable:
		return `^[A-Za-z_][A-Za-z0-9_]{0,63}$`
	case nameHeader:
		return `^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`
	case nameRate:
		return `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}/.`
	}
	return `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`
}

// fromVariable returns the name that a part of a variable's name means where
// there is no such name yet.
func (f nameForm) fromVariable(part string) string {
	if f == nameVariable {
		return part
	}
	part = strings.ToLower(part)
	if f == nameHeader {
		return strings.ReplaceAll(part, "_", "-")
	}
	return part
}

// wrong returns how a name has to look if s is none, else "".
func (f nameForm) wrong(s string) string {
	var good bool
	var hint string
	switch f {
	case nameServer:
		good, hint = isName(s) && !strings.Contains(s, ".") && len(s) <= 32, `use a-z, 0-9, "-" and "_", 32 characters at most`
	case nameVariable:
		good, hint = isVariableName(s), `use A-Z, 0-9 and "_", as in LC_ALL`
	case nameHeader:
		good, hint = isName(s) && !strings.Contains(s, "."), `use A-Z, 0-9 and "-", as in X-Api-Version`
	case nameRate:
		provider, model, _ := strings.Cut(s, "/")
		good, hint = isName(provider) && model != "" && len(model) <= 256 && !hasControl(model), `write it as "provider/model"`
	default:
		good, hint = isName(s), `use a-z, 0-9, "-", "_" and ".", 64 characters at most`
	}
	if good {
		return ""
	}
	return hint
}

// isVariableName reports whether s may name an environment variable.
func isVariableName(s string) bool {
	if s == "" || len(s) > 64 || '0' <= s[0] && s[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
}

// isName reports whether s may name an agent, a profile or a provider.
func isName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i, r := range s {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !letter && (i == 0 || r != '-' && r != '_' && r != '.') {
			return false
		}
	}
	return true
}

// host checks a host, with or without a port. The hint repeats it without what
// does not belong there.
func (d *decoder) host(n *node, f field, path string) {
	const hint = `write it as "api.example.com" or "127.0.0.1:8080"`
	switch {
	case n.text == "*" && f.hosts == "any":
	case strings.Contains(n.text, "://") || strings.Contains(n.text, "/"):
		d.report.add(n.value, path, "this is an address, not a host", hint)
	case !isHost(n.text):
		d.report.add(n.value, path, quote(cut(n.text))+" is no host", hint)
	}
}

// isHost reports whether s is a host name or an IP address, with or without a
// port; a name may begin with "*.".
func isHost(s string) bool {
	if net.ParseIP(s) != nil {
		return true
	}
	if host, port, err := net.SplitHostPort(s); err == nil {
		if p, err := strconv.Atoi(port); err != nil || p < 1 || p > 65535 {
			return false
		}
		if s = host; net.ParseIP(s) != nil {
			return true
		}
	}
	s = strings.TrimPrefix(s, "*.")
	for label := range strings.SplitSeq(s, ".") {
		if !isName(label) || strings.HasSuffix(label, "-") {
			return false
		}
	}
	return true
}

// amount decodes an amount of money, exactly: the text of the number counts,
// not what a floating point number makes of it.
func (d *decoder) amount(n *node, v interface{ SetInt(int64) }, path string) {
	if n.kind != kindInt && !d.expect(n, path, kindFloat, "") {
		return
	}
	a, err := cost.Parse(strings.ReplaceAll(n.text, "_", ""))
	if err != nil {
		d.report.add(n.value, path, quote(cut(n.text))+" is no amount of money",
			"write a number from 0 to 1000000000 with at most 9 places after the point, as 1.25")
		return
	}
	v.SetInt(int64(a))
}
