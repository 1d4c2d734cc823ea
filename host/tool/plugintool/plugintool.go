// Package plugintool makes the tools of a plugin of kind tool: it loads the
// plugin with what the operator allows, asks what it offers, and calls it.
//
// The plugin has no network of its own. What it may send goes through
// host/egress, to the hosts that its manifest lists and the operator allows; the
// secrets of its requests are put in there, and taken out of the answers.
package plugintool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/go-hclog"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/plugin"
	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/host/tool"
)

// Options say what a plugin gets.
type Options struct {
	// HTTP are the hosts that it may call, and Private those of them that may
	// have an address that is not public: see egress.Reach.
	HTTP, Private []string
	// Clock and Random are the capabilities of that name.
	Clock, Random bool
	// Secrets are the values of those that its requests may name.
	Secrets map[string]secret.Value
	// Config are its settings, a JSON object; nil is none.
	Config json.RawMessage
	// Client sends its requests; nil if it may send none.
	Client *egress.Client
	// Logger takes warnings; nil is none.
	Logger hclog.Logger
}

// Load loads a plugin of kind tool and returns its tools. What is wrong with it
// is in a *plugin.LoadError or a *plugin.CallError. The plugin ends with r, or
// with its Close.
func Load(ctx context.Context, r *plugin.Runtime, s plugin.Source, o Options) (*plugin.Plugin, []tool.Tool, error) {
	m, err := plugin.ParseManifest(s.Manifest)
	if err != nil {
		return nil, nil, err
	}
	if m.Kind != abi.KindTool {
		return nil, nil, &plugin.LoadError{Plugin: m.Name, Problems: []string{fmt.Sprintf("its kind is %s and not %s", m.Kind, abi.KindTool)}}
	}
	p, err := r.Load(ctx, s, o.grant(m))
	if err != nil {
		return nil, nil, err
	}
	tools, err := Tools(ctx, p)
	if err != nil {
		p.Close()
		return nil, nil, err
	}
	return p, tools, nil
}

// grant is what the plugin gets of what it asks for.
func (o *Options) grant(m plugin.Manifest) plugin.Grant {
	g := plugin.Grant{
		Capabilities: plugin.Capabilities{HTTP: o.HTTP, Clock: o.Clock, Random: o.Random},
		Config:       o.Config,
	}
	secrets := map[string]secret.Value{}
	for name, value := range o.Secrets {
		g.Capabilities.Secrets = append(g.Capabilities.Secrets, name)
		if slices.Contains(m.Capabilities.Secrets, name) {
			secrets[name] = value
		}
	}
	if o.Client != nil {
		reach := egress.Reach{Hosts: m.Capabilities.HTTP, Private: o.Private, Secrets: secrets}
		g.HTTP = sender{o.Client, reach, m.Name, o.Logger}.send
	}
	return g
}

// Tools returns the tools of a plugin that is loaded.
func Tools(ctx context.Context, p *plugin.Plugin) ([]tool.Tool, error) {
	query := abi.ToolsQuery{Options: abi.Raw(p.Config())}
	out, err := p.Call(ctx, abi.ExportTools, query.AppendJSON(nil))
	if err != nil {
		return nil, err
	}
	tools, err := offered(p, out)
	if err != nil {
		return nil, p.Reject(ctx, abi.ExportTools, err)
	}
	return tools, nil
}

// maxDescription is the longest description of a tool, in bytes: every request
// to a model carries it.
const maxDescription = 8 << 10

func offered(p *plugin.Plugin, out []byte) ([]tool.Tool, error) {
	var list abi.ToolList
	if err := list.DecodeJSON(out); err != nil {
		return nil, err
	}
	if n := len(list.Tools); n == 0 || n > abi.MaxTools {
		return nil, fmt.Errorf("it offers %d tools; possible are 1 to %d", n, abi.MaxTools)
	}
	var tools []tool.Tool
	for _, spec := range list.Tools {
		effect, err := believed(spec.Effect, p.Manifest().Capabilities)
		if err != nil {
			return nil, fmt.Errorf("tool %.64q: %w", spec.Name, err)
		}
		if len(spec.Description) > maxDescription {
			return nil, fmt.Errorf("tool %.64q: its description is longer than %d bytes", spec.Name, maxDescription)
		}
		tools = append(tools, &pluginTool{p, tool.Spec{
			Name: spec.Name, Description: spec.Description, InputSchema: spec.InputSchema, Effect: effect,
			Source: "plugin " + p.Fingerprint().String(),
		}})
	}
	if _, err := tool.NewSet(tools); err != nil {
		return nil, err
	}
	return tools, nil
}

// believed is the effect that counts. A plugin that can send nothing changes
// nothing, so its word is taken; one that can send at least reads.
func believed(claimed abi.Effect, c plugin.Capabilities) (abi.Effect, error) {
	switch claimed {
	case abi.EffectNone:
		if len(c.HTTP) > 0 {
			return abi.EffectRead, nil
		}
		return claimed, nil
	case abi.EffectRead, abi.EffectWrite:
		return claimed, nil
	}
	return "", fmt.Errorf("its effect is %.20q; there are none, read and write", string(claimed))
}

// pluginTool is one tool of a plugin.
type pluginTool struct {
	plugin *plugin.Plugin
	spec   tool.Spec
}

// Spec implements tool.Tool.
func (t *pluginTool) Spec() tool.Spec { return t.spec }

// Call implements tool.Tool.
func (t *pluginTool) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	in := abi.ToolCall{ID: c.ID, Name: t.spec.Name, Arguments: c.Arguments, Options: abi.Raw(t.plugin.Config())}
	out, err := t.plugin.Call(ctx, abi.ExportCall, in.AppendJSON(nil))
	if err != nil {
		return tool.Result{}, t.failed(ctx, err)
	}
	var result abi.ToolResult
	if err := result.DecodeJSON(out); err != nil {
		return tool.Result{}, t.failed(ctx, t.plugin.Reject(ctx, abi.ExportCall, err))
	}
	return tool.Result{Content: result.Content, IsError: result.IsError}, nil
}

// failed says what kind of failure it was.
func (t *pluginTool) failed(ctx context.Context, err error) error {
	out := &tool.Error{Class: tool.Failed, Message: "the plugin failed", Err: err}
	var call *plugin.CallError
	if ctx.Err() != nil || !errors.As(err, &call) {
		return err
	}
	switch call.Reason {
	case plugin.ReasonTimeout:
		out.Class, out.Message = tool.Timeout, fmt.Sprintf("the plugin took longer than %s; what it did until then is not known", t.plugin.Limits().CallTimeout)
	case plugin.ReasonQuarantined, plugin.ReasonClosed:
		out.Class, out.Message = tool.Unavailable, "the plugin cannot be called now: "+call.Err.Error()
	case plugin.ReasonError:
		out.Message = "the plugin says: " + call.Err.Error()
	default:
		out.Message = fmt.Sprintf("the plugin failed (%s)", call.Reason)
	}
	return out
}
