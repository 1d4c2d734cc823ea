// Package core has the tools that every host has: files in the agent's
// workspace, a shell, and pages from the web.
//
// All paths go through an os.Root, so that no "..", absolute path or symbolic
// link leads out of the workspace, also not one that is put there while a call
// runs. The shell alone is not held by that: it has the rights of the host's
// user, which is why an agent has it only if its config names it.
//
// What a model did wrong is a result that says what to do; an error is for
// what no other arguments would mend. Every cut of a result is visible in it.
package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/tool"
)

// The names of the tools.
const (
	ReadFile    = "read_file"
	ListDir     = "list_dir"
	SearchFiles = "search_files"
	WriteFile   = "write_file"
	EditFile    = "edit_file"
	Shell       = "shell"
	FetchURL    = "fetch_url"
)

// Options say what the tools work with.
type Options struct {
	// Workspace is the directory of the agent's files. It is created, with
	// mode 0700, if it is not there.
	Workspace string
	// ResultBytes is the size to which results are kept, in bytes; 0 means
	// tool.DefaultResultBytes.
	ResultBytes int
	// Shell is for the tool shell.
	Shell ShellOptions
	// Fetch is for the tool fetch_url.
	Fetch FetchOptions
}

// ShellOptions are for the tool shell.
type ShellOptions struct {
	// Timeout is how long a command may take; 0 means 60 s.
	Timeout time.Duration
	// OutputBytes is how much of the output is kept; 0 means ResultBytes.
	OutputBytes int
	// Environ is the host's environment as os.Environ returns it, and Env the
	// names of the variables that commands get of it. No others reach them.
	Environ, Env []string
}

// FetchOptions are for the tool fetch_url.
type FetchOptions struct {
	// Client sends the requests; without one there is no fetch_url.
	Client *egress.Client
	// Private are the hosts that may have a private address: see
	// egress.Reach.
	Private []string
	// OutputBytes is how much of a page is kept; 0 means ResultBytes.
	OutputBytes int
}

// New returns the tools with those names, in their order.
func New(o Options, names ...string) ([]tool.Tool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	if o.ResultBytes <= 0 {
		o.ResultBytes = tool.DefaultResultBytes
	}
	w, err := openWorkspace(o.Workspace)
	if err != nil {
		return nil, err
	}
	var tools []tool.Tool
	for _, name := range names {
		t, err := w.tool(name, o)
		if err != nil {
			return nil, fmt.Errorf("make tool %s: %w", name, err)
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// tool returns one tool.
func (w *workspace) tool(name string, o Options) (tool.Tool, error) {
	room := o.ResultBytes - noteBytes
	switch name {
	case ReadFile:
		return newReadFile(w, room), nil
	case ListDir:
		return newListDir(w, room), nil
	case SearchFiles:
		return newSearchFiles(w, room), nil
	case WriteFile:
		return newWriteFile(w), nil
	case EditFile:
		return newEditFile(w), nil
	case Shell:
		return newShell(w, o.Shell, room)
	case FetchURL:
		return newFetchURL(o.Fetch, room)
	}
	return nil, errors.New("there is no such tool")
}

// noteBytes is the room in a result for the notes about what is not in it.
const noteBytes = 256

// coreTool is a tool whose arguments are an A.
type coreTool[A any] struct {
	spec tool.Spec
	call func(ctx context.Context, a A) (string, error)
}

// newTool returns a tool. An error of call is told to the model, unless it is a
// *tool.Error.
func newTool[A any](name string, effect abi.Effect, description, schema string, call func(context.Context, A) (string, error)) *coreTool[A] {
	return &coreTool[A]{
		spec: tool.Spec{Name: name, Description: description, InputSchema: abi.Raw(schema), Effect: effect, Source: "core"},
		call: call,
	}
}

// Spec implements tool.Tool.
func (t *coreTool[A]) Spec() tool.Spec { return t.spec }

// Call implements tool.Tool.
func (t *coreTool[A]) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var a A
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return tool.Result{Content: "The arguments cannot be read: " + err.Error() + ".", IsError: true}, nil //nolint:nilerr // the model is told
	}
	text, err := t.call(ctx, a)
	var failed *tool.Error
	switch {
	case err == nil:
		return tool.Result{Content: text}, nil
	case ctx.Err() != nil:
		return tool.Result{}, context.Cause(ctx)
	case errors.As(err, &failed):
		return tool.Result{}, failed
	}
	return tool.Result{Content: err.Error(), IsError: true}, nil
}

// openWorkspace makes the directory if it is not there.
func openWorkspace(dir string) (*workspace, error) {
	if dir == "" {
		return nil, errors.New("open workspace: no directory is named")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return nil, fmt.Errorf("make workspace: %w", err)
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return &workspace{dir: abs, real: resolved}, nil
}
