//go:build unix

package secret_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/zchost/zchost/host/secret"
)

// A command that hangs is stopped with all that it started.
func TestResolveStopsCommand(t *testing.T) {
	t.Parallel()
	held := filepath.Join(t.TempDir(), "held")
	if err := syscall.Mkfifo(held, 0o600); err != nil {
		t.Fatal(err)
	}
	ref, err := secret.ParseRef("cmd:sleep 300 > '" + held + "' & wait")
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		pipe, err := os.Open(held) // waits until the grandchild has it open
		if err == nil {
			cancel(why)
			_, err = io.ReadAll(pipe) // waits until nobody has
			pipe.Close()
		}
		ended <- err
	}()
	if _, err := ref.Resolve(ctx); !errors.Is(err, why) || !strings.Contains(err.Error(), "was stopped") {
		t.Errorf("error %v, want the context's cause", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
