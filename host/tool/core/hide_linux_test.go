package core_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/zchost/zchost/host/tool/core"
)

// A command must not read the host's environment in /proc/PPID/environ. Root
// can, and tests may run as root: so this looks at the switch.
func TestShellHidesTheHostsEnvironment(t *testing.T) {
	t.Parallel()
	setup(t, nil)
	if _, err := core.New(core.Options{Workspace: t.TempDir()}, core.Shell); err != nil {
		t.Fatal(err)
	}
	n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil || n != 0 {
		t.Errorf("PR_GET_DUMPABLE gives %d, %v", n, err)
	}
}
