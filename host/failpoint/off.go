//go:build !failpoints

package failpoint

// Enabled reports whether this build has failpoints.
func Enabled() bool { return false }

// Names returns every step, in the order in which a turn reaches them; nil in
// a build without failpoints.
func Names() []Name { return nil }

// Hit does nothing in this build.
func Hit(Name) {}
