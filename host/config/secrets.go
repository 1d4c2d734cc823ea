package config

import (
	"errors"

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
