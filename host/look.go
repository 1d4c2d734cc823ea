package host

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/host/tool"
)

// ServerTools starts the server of an [mcp.NAME] table, asks for its tools, and
// ends it: a look at what a host would have. The tools cannot be called any
// more. Of o it reads Env and Version.
func ServerTools(ctx context.Context, cfg config.Config, o Options, name string) ([]tool.Tool, error) {
	redactor := secret.NewRedactor()
	a := &agents{
		config: cfg, log: hclog.NewNullLogger(), redactor: redactor, environ: o.Env, version: o.Version,
		client:  egress.New(egress.Options{Redactor: redactor, UserAgent: "zchost/" + o.Version}),
		secrets: secret.Resolver{LookupEnv: lookup(o.Env)},
	}
	s, err := a.server(ctx, name)
	if err != nil {
		return nil, err
	}
	defer a.closeServers()
	return s.Tools(ctx)
}
