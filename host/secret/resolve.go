package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/zchost/zchost/host/fault"
)

const (
	// MaxSize is the longest secret, in bytes.
	MaxSize = 64 << 10
	// CommandTimeout is how long a cmd: command may take.
	CommandTimeout = 10 * time.Second
)

func isAbs(path string) bool { return filepath.IsAbs(path) }

// Resolver finds secrets. The zero Resolver uses the environment and the home
// directory of this process.
type Resolver struct {
	// LookupEnv finds an environment variable; nil means os.LookupEnv.
	LookupEnv func(name string) (value string, ok bool)
}

// Resolve is Resolver{}.Resolve.
func (r Ref) Resolve(ctx context.Context) (Value, error) {
	return Resolver{}.Resolve(ctx, r)
}

// Resolve finds the secret that r refers to: without surrounding white space,
// at most MaxSize bytes, not empty, and without control characters, so that it
// fits into a header. A command gets CommandTimeout. An error is a fault of
// code Secret and names the reference by its label.
func (f Resolver) Resolve(ctx context.Context, r Ref) (Value, error) {
	text, err := f.read(ctx, r)
	if err != nil {
		return Value{}, err
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	switch {
	case text == "":
		return Value{}, unresolved(r, "is empty", "put the secret there", nil)
	case len(text) > MaxSize:
		return Value{}, unresolved(r, fmt.Sprintf("holds more than %d bytes", MaxSize), "see that it holds the secret alone", nil)
	case strings.ContainsFunc(text, unicode.IsControl):
		return Value{}, unresolved(r, "holds a line break or control character", "see that it holds the secret alone, on one line", nil)
	}
	return New(text), nil
}

func (f Resolver) read(ctx context.Context, r Ref) (string, error) {
	switch r.scheme {
	case SchemeEnv:
		lookup := f.LookupEnv
		if lookup == nil {
			lookup = os.LookupEnv
		}
		text, ok := lookup(r.target)
		if !ok {
			return "", unresolved(r, "is not set", "set the environment variable "+r.target, nil)
		}
		return text, nil
	case SchemeFile:
		return readFile(r)
	case SchemeCmd:
		return runCommand(ctx, r)
	}
	return "", fault.New(fault.Secret, "secret reference is empty", howToRefer)
}

func readFile(r Ref) (string, error) {
	path := r.target
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", unresolved(r, "cannot be found", "write the path without ~", err)
		}
		path = filepath.Join(home, rest)
	}
	// Look before opening: opening a named pipe would wait for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return "", unresolved(r, "cannot be read", "see that the file is there and may be read by this user", errors.Unwrap(err))
	}
	if !info.Mode().IsRegular() {
		return "", unresolved(r, "is not a regular file", "name a file that holds the secret", nil)
	}
	file, err := os.Open(path) //nolint:gosec // G304: the operator's own config names the path
	if err != nil {
		return "", unresolved(r, "cannot be read", "see that the file may be read by this user", errors.Unwrap(err))
	}
	defer file.Close() //nolint:errcheck // it was only read
	// One byte more than allowed, and white space may surround it.
	text, err := io.ReadAll(io.LimitReader(file, 2*MaxSize))
	if err != nil {
		return "", unresolved(r, "cannot be read", "see that the file may be read by this user", errors.Unwrap(err))
	}
	return string(text), nil
}

// runCommand runs the line as a shell does. What the command prints as errors
// is not repeated: nobody knows what it holds.
func runCommand(ctx context.Context, r Ref) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, CommandTimeout)
	defer cancel()
	cmd := shell(ctx, r.target)
	var out limitedBuffer
	cmd.Stdout = &out
	// A child that keeps the output open does not hold us up.
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	const byHand = "run the command by hand to see what it says"
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", unresolved(r, fmt.Sprintf("did not finish within %s", CommandTimeout), byHand, ctx.Err())
	case ctx.Err() != nil:
		return "", unresolved(r, "was stopped", "", context.Cause(ctx))
	case err != nil:
		return "", unresolved(r, "failed", byHand, err)
	}
	return out.String(), nil
}

func unresolved(r Ref, what, hint string, err error) error {
	msg := "secret " + r.Label() + " " + what
	if err != nil {
		return fault.Wrap(err, fault.Secret, msg, hint)
	}
	return fault.New(fault.Secret, msg, hint)
}

// limitedBuffer keeps the first 2*MaxSize bytes, and takes the rest so that
// the writer does not fail.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	room := 2*MaxSize - b.Len()
	b.Buffer.Write(p[:min(room, len(p))])
	return len(p), nil
}
