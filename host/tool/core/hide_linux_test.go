package core_test

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/zchost/zchost/host/tool/core"
)

// A command must not read the host's environment in /proc/PPID/environ. Root
// can, and tests may run as root: so this looks at the switch, too.
func TestShellHidesTheHostsEnvironment(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	if got := b.run(t, core.Shell, args{"command": "cat /proc/$PPID/environ"}); os.Geteuid() != 0 && got != "!cat: /proc/"+strconv.Itoa(os.Getpid())+"/environ: Permission denied\n[exit status 1]" {
		t.Errorf("a command reads %q", got)
	}
	n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil || n != 0 {
		t.Errorf("PR_GET_DUMPABLE gives %d, %v", n, err)
	}
}
