package config

import (
	"errors"
	"strings"

	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/secret"
)

// secret checks a reference to a secret. Its text is in no message: it may be
// the secret itself.
func (d *decoder) secret(n *node, path string) {
	_, err := secret.ParseRef(n.text)
	if err == nil {
		return
	}
	msg := "this is no reference to a secret"
	var f *fault.Error
	if errors.As(err, &f) {
		msg = f.Msg
	}
	d.report.add(n.value, path, msg, fault.HintOf(err))
}

// envValue checks a value of an env or headers table (ParseValue).
func (d *decoder) envValue(n *node, name, path string) {
	v, err := ParseValue(n.text)
	const plain = "write where it is, as env:NAME, or plain text that is no secret as \"text:…\""
	switch {
	case err != nil && strings.Contains(n.text, ":"):
		d.secret(n, path)
	case err != nil:
		d.report.add(n.value, path, "this is neither a reference nor marked as plain text", plain)
	case strings.ContainsAny(v.Text, "\r\n\x00"):
		d.report.add(n.value, path, "there are control characters in it", "take them out")
	case isNamedSecret(name, v.Text):
		d.report.add(n.value, path, "a secret is written here in place of a reference",
			"write where it is, as env:NAME, file:PATH or cmd:COMMAND, and change the secret")
	}
}

// isNamedSecret reports whether a value is a secret, going also by the last
// word of the name of its variable, header or flag: what it holds.
func isNamedSecret(name, text string) bool {
	switch word := strings.ToLower(name[strings.LastIndexAny(name, "_-")+1:]); word {
	case "key", "passwd", "cookie", "credentials":
		return text != ""
	default:
		return isSecret(word, text) || isSecret(name, text)
	}
}

// secretsOf names the key beside an open table that takes references.
func secretsOf(path string) string {
	if strings.HasPrefix(path, "tools.") {
		return "allow.secrets"
	}
	return "api_keys"
}

// isSecret reports whether a value of an open table is a secret, going by the
// name of its key and by the beginnings that vendors give to their keys.
func isSecret(key, text string) bool {
	if text == "" {
		return false
	}
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(key)) {
	case "apikey", "token", "accesstoken", "authtoken", "secret", "clientsecret", "password", "authorization":
		return true
	}
	for _, prefix := range []string{"sk-", "sk_", "xoxb-", "xapp-", "ghp_", "github_pat_", "AIza", "gsk_", "hf_", "Bearer "} {
		if strings.HasPrefix(text, prefix) && len(text) >= 16 {
			return true
		}
	}
	return false
}
