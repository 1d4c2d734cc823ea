package host

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/mcp"
	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/host/tool"
)

// server returns the server of an [mcp.NAME] table, the same one for all
// agents. Its secrets are resolved now; it is started when its tools are asked
// for the first time, so that a host that runs no turn starts nothing.
func (a *agents) server(ctx context.Context, name string) (toolServer, error) {
	if s := a.servers[name]; s != nil {
		return s, nil
	}
	c := a.config.Server(name)
	settings := mcp.Config{
		Name: name, Command: c.Command, Dir: c.Dir, Environ: a.environ, URL: c.URL,
		Trust: c.Trust, Timeout: c.Timeout, Version: a.version, Redactor: a.redactor, Logger: a.log.Named("mcp"),
	}
	var err error
	if settings.Env, err = a.values(ctx, "mcp."+name+".env", c.Env); err != nil {
		return nil, err
	}
	if c.URL != "" {
		if settings.Transport, err = a.way(ctx, name, c); err != nil {
			return nil, err
		}
	}
	s := &server{settings: settings}
	if a.servers == nil {
		a.servers = make(map[string]*server)
	}
	a.servers[name] = s
	return s, nil
}

// way is the way to a server's address. The headers are put in there.
func (a *agents) way(ctx context.Context, name string, c config.MCP) (*egress.Way, error) {
	values, err := a.values(ctx, "mcp."+name+".headers", c.Headers)
	if err != nil {
		return nil, err
	}
	headers := make(map[string]secret.Value, len(values))
	for key, v := range values {
		headers[key] = v.Secret
		if v.Secret.Empty() {
			headers[key] = secret.New(v.Text)
		}
	}
	var token secret.Value
	if c.Token != "" {
		ref, err := secret.ParseRef(c.Token)
		if err != nil {
			return nil, fmt.Errorf("mcp.%s.token: %w", name, err)
		}
		if token, err = a.resolve(ctx, "mcp."+name+".token", ref); err != nil {
			return nil, err
		}
	}
	way, err := a.client.Way(c.URL, token, headers)
	if err != nil {
		return nil, fault.Wrap(err, fault.Config, fmt.Sprintf("%s: server %q", a.config.Origin("mcp."+name+".url"), name), "write it as https://HOST/PATH")
	}
	return way, nil
}

// values resolves a table of references and plain texts.
func (a *agents) values(ctx context.Context, path string, table map[string]string) (map[string]mcp.Value, error) {
	values := make(map[string]mcp.Value, len(table))
	for _, name := range slices.Sorted(maps.Keys(table)) {
		v, err := config.ParseValue(table[name])
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", path, name, err)
		}
		if v.Ref == (secret.Ref{}) {
			values[name] = mcp.Value{Text: v.Text}
			continue
		}
		found, err := a.resolve(ctx, path+"."+name, v.Ref)
		if err != nil {
			return nil, err
		}
		values[name] = mcp.Value{Secret: found}
	}
	return values, nil
}

// resolve finds a secret. The redactor learns it before anything else can.
func (a *agents) resolve(ctx context.Context, path string, ref secret.Ref) (secret.Value, error) {
	value, err := a.secrets.Resolve(ctx, ref)
	if err != nil {
		return value, fault.Wrap(err, fault.Secret, fmt.Sprintf("%s: %s", a.config.Origin(path), path), "")
	}
	a.redactor.Add(value)
	return value, nil
}

// server is a server of the config that is started when it is needed.
type server struct {
	settings mcp.Config

	mu      sync.Mutex
	running *mcp.Server // nil before that
	closed  bool
}

// Tools returns the server's tools.
func (s *server) Tools(ctx context.Context) ([]tool.Tool, error) {
	s.mu.Lock()
	if s.running == nil {
		if s.closed {
			s.mu.Unlock()
			return nil, &tool.Error{Class: tool.Unavailable, Message: "the host is stopping"}
		}
		// It lives as long as the host, not as long as the turn that was first.
		s.running = mcp.Start(context.WithoutCancel(ctx), s.settings)
	}
	running := s.running
	s.mu.Unlock()
	return running.Tools(ctx)
}

func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	running := s.running
	s.mu.Unlock()
	if running != nil {
		running.Close()
	}
}

// closeServers ends all servers, side by side.
func (a *agents) closeServers() {
	var group errgroup.Group
	for _, s := range a.servers {
		group.Go(func() error { s.close(); return nil })
	}
	_ = group.Wait() // none fails
}
