//go:build !unix

package core

import "os/exec"

// inGroup leaves the command as it is: only its own process is killed.
func inGroup(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}
