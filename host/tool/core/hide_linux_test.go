package core_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/zchost/zchost/host/tool/core"
)

// A command finds no key in /proc/PPID/environ, not even one of root's; and the
// host has its variables all the same.
func TestShellHidesTheHostsEnvironment(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	got := b.run(t, core.Shell, args{"command": "cat /proc/$PPID/environ | tr -d '\\0'"})
	refused := "cat: /proc/" + strconv.Itoa(os.Getpid()) + "/environ: Permission denied\n[exit status 0]"
	if got != "[no output; exit status 0]" && got != refused {
		t.Errorf("a command reads %q", got)
	}
	n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil || n != 0 {
		t.Errorf("PR_GET_DUMPABLE gives %d, %v", n, err)
	}
	if os.Getenv("PATH") == "" || !strings.Contains(strings.Join(os.Environ(), "\n"), "PATH=") {
		t.Error("the host has lost its own environment")
	}
}
