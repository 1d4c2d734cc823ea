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
