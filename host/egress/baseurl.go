package egress

import (
	"net/url"
	"strings"

	"github.com/zchost/zchost/host/fault"
)

// ParseBaseURL checks what the config names as base_url and returns it in one
// spelling: scheme and host in lower case, no default port, no slash at the
// end. It is absolute, http or https, and has no user, query or fragment. The
// error is a fault that says what to write.
func ParseBaseURL(s string) (string, error) {
	bad := func(what, hint string) (string, error) {
		return "", fault.New(fault.Config, "base_url "+what, hint)
	}
	const example = "write it like https://api.example.com/v1"
	if s == "" {
		return bad("is empty", example)
	}
	if strings.Contains(s, "{{") {
		return bad("holds a placeholder", "secrets go into api_keys or secrets")
	}
	if why := plainURL(s); why != "" {
		hint := example
		if why == notASCII {
			hint = "write a host name beyond ASCII in its xn-- form, and escape the rest with %"
		}
		return bad(why, hint)
	}
	u, err := url.Parse(s)
	// The user part of an address is a password: the text repeats nothing.
	switch {
	case err != nil:
		return bad("is not a URL", example)
	case u.Opaque != "" || u.Scheme != "http" && u.Scheme != "https":
		return bad("does not begin with http:// or https://", example)
	case u.User != nil:
		return bad("holds a user or password", "leave out what stands before the @; keys go into api_keys")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#"):
		return bad("has a query or fragment", "leave out what follows ? or #")
	case u.Hostname() == "":
		return bad("lacks a host", example)
	case strings.ContainsFunc(u.Host, notOfHost):
		return bad("has a host name with characters that none has", example)
	case dotSegments(u.EscapedPath()):
		return bad("has . or .. in its path", "write the path that is meant")
	}
	return origin(u) + strings.TrimRight(u.EscapedPath(), "/"), nil
}

const notASCII = "holds characters beyond ASCII"

// notOfHost tells whether c is in no name, address or port.
func notOfHost(c rune) bool {
	alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	return !alnum && !strings.ContainsRune(".-_:[]", c)
}

// plainURL says what is wrong with the bytes of a URL, or "". Parsers disagree
// about all of these, and so about where a request would go.
func plainURL(s string) string {
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ' || c == 0x7F:
			return "holds white space or control characters"
		case c == '\\':
			return "holds a backslash"
		case c > 0x7F:
			return notASCII
		case strings.IndexByte("\"<>^`|", c) >= 0:
			return "holds a character that must be escaped with %"
		}
	}
	return ""
}

// origin returns scheme, host and port in one spelling.
func origin(u *url.URL) string {
	host := strings.ToLower(u.Host)
	switch u.Scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return u.Scheme + "://" + strings.TrimSuffix(host, ":")
}

// dotSegments tells whether a path has a segment . or .., however often it is
// escaped and whatever a server may take for a slash.
func dotSegments(path string) bool {
	decode := strings.NewReplacer("%2e", ".", "%2E", ".", "%2f", "/", "%2F", "/", "%5c", "\\", "%5C", "\\", "%25", "%")
	for range 5 {
		for seg := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '/' || c == '\\' }) {
			seg, _, _ = strings.Cut(seg, ";") // ..;x is .. for some servers
			if seg == "." || seg == ".." {
				return true
			}
		}
		decoded := decode.Replace(path)
		if decoded == path {
			return false
		}
		path = decoded
	}
	return true // escaped five times over: nobody needs that
}

// under says why u is not at or below base, or "". base is as ParseBaseURL
// returns it.
func under(u *url.URL, base string) string {
	b, err := url.Parse(base)
	if err != nil {
		return "base_url is not a URL"
	}
	path := u.EscapedPath()
	switch {
	case u.Scheme == "" || u.Host == "":
		return "it is not absolute"
	case u.User != nil:
		return "it holds a user or password"
	case u.Opaque != "" || origin(u) != origin(b):
		return "it is at another server"
	case dotSegments(path):
		return "its path holds . or .."
	case path != b.EscapedPath() && !strings.HasPrefix(path, b.EscapedPath()+"/"):
		return "its path is not below that of base_url"
	}
	return ""
}
