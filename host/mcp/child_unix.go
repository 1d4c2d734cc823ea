//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// inGroup gives the command a process group of its own, so that a signal
// reaches what it has started too, and a Ctrl-C at the terminal does not reach
// it.
func inGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminateGroup asks the command and what it has started to end.
func terminateGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// killGroup kills the command and what it has started, also when the command
// itself has ended: no other process gets the id of a group that somebody is
// in.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
