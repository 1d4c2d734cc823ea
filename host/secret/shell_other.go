//go:build !unix

package secret

import (
	"context"
	"os/exec"
)

// shell returns line as a command of the command processor.
func shell(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd", "/C", line) //nolint:gosec // G204: the operator's own config names the command
}
