package main

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAliveNotZombie: a host that was killed does not count as alive while its
// parent has not asked how it ended.
func TestAliveNotZombie(t *testing.T) {
	t.Parallel()
	if !alive(os.Getpid()) {
		t.Error("this process is not alive")
	}
	c := exec.CommandContext(t.Context(), "sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Wait() }() // it was killed
	if !alive(c.Process.Pid) {
		t.Error("the child is not alive")
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// It has ended, and stays a zombie until Wait.
	if err := unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if alive(c.Process.Pid) {
		t.Error("the killed child counts as alive")
	}
}
