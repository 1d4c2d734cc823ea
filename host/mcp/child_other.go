//go:build !unix

package mcp

import "os/exec"

// inGroup leaves the command as it is: there are no process groups.
func inGroup(*exec.Cmd) {}

// terminateGroup kills the command: it cannot be asked.
func terminateGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
