package config

// secret checks a reference to a secret. The text is in no message.
func (d *decoder) secret(n *node, path string) {
	_ = n
	_ = path
}
