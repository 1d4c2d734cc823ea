//go:build !wasip1

package provider

import "context"

// Plugin is a provider that is called through its exports without being
// compiled to WebAssembly. It runs the same code as the module: decoding,
// dispatch, encoding.
type Plugin struct{ provider Provider }

// Native returns p as a plugin that can be called.
func Native(p Provider) *Plugin { return &Plugin{p} }

// Call runs an export as the host does. Calls do not share memory, so they may
// run side by side.
func (p *Plugin) Call(ctx context.Context, export string, in []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d := dispatcher{provider: p.provider}
	out, err := d.call(export, in)
	if err != nil {
		return nil, err
	}
	return out, nil
}
