package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/fault"
)

// initCmd writes a first config.
type initCmd struct{}

// Run writes the config, unless there is one.
func (initCmd) Run(ctx context.Context, a *app) error {
	path := a.configPath
	if path == "" {
		home, err := host.CreateHome(a.home)
		if err != nil {
			return err
		}
		path = filepath.Join(home.Dir, config.FileName)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator names the file
	switch {
	case errors.Is(err, fs.ErrExist):
		return fault.New(fault.Config, path+" is there already, and was not changed", "edit it, or move it away first; zchost config check looks at it")
	case err != nil:
		return fault.Wrap(err, fault.Home, "write config", "name a place that you may write to with --home or --config")
	}
	ollama := findOllama(ctx, a.env)
	_, err = f.WriteString(config.Template(a.env, ollama))
	if err := errors.Join(err, f.Close()); err != nil {
		return fault.Wrap(err, fault.Home, "write config", "remove "+path+" and try again")
	}
	return initDone(a, path, ollama)
}

// findOllama returns the address of an Ollama that listens where it usually
// does, "" if none does.
func findOllama(ctx context.Context, environ []string) string {
	address := config.OllamaURL(environ)
	u, err := url.Parse(address)
	if err != nil || u.Port() == "" {
		return ""
	}
	dialer := net.Dialer{Timeout: 500 * time.Millisecond}
	conn, err := dialer.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return ""
	}
	_ = conn.Close() // nothing was sent
	return address
}

func initDone(a *app, path, ollama string) error {
	if err := a.print("wrote %s\n", path); err != nil {
		return err
	}
	known := config.Recognised(a.env)
	switch {
	case len(known) == 0 && ollama != "":
		return a.screen.Note("it uses the Ollama at " + ollama + "; look at the model in it, then run zchost doctor")
	case len(known) == 0:
		return a.screen.Note("no key was found in the environment: the config uses the demo; edit it, then run zchost doctor")
	}
	return a.screen.Note(fmt.Sprintf("it uses %s by reference; look at the model in it, then run zchost doctor", known[0].Env))
}
