package core

import "golang.org/x/sys/unix"

// hideEnvironment makes that other processes of the same user, such as those
// that the shell runs, cannot read this one's environment and memory in /proc:
// keys may be there. Root can all the same. See prctl(2), PR_SET_DUMPABLE.
func hideEnvironment() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // as good as without, if the kernel has no such thing
}
