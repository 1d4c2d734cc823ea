package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/plugin"
	"github.com/zchost/zchost/host/provider"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/plugins/builtin"
)

// FindPlugin returns the files of a plugin: what is installed in the home goes
// before what is built in.
func FindPlugin(home Home, name string) (plugin.Source, error) {
	dir := filepath.Join(home.Plugins(), name)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return plugin.ReadDir(dir)
	}
	if _, err := os.Stat(dir + ".zcp"); err == nil {
		return plugin.ReadPackage(dir + ".zcp")
	}
	manifest, module, err := builtin.Open(name)
	var missing *builtin.NotFoundError
	if errors.As(err, &missing) {
		return plugin.Source{}, fault.New(fault.NotFound, fmt.Sprintf("there is no plugin %q", name),
			"`zchost plugin list` shows those there are; put others into "+home.Plugins())
	}
	if err != nil {
		return plugin.Source{}, fault.Wrap(err, fault.Plugin, fmt.Sprintf("open built-in plugin %q", name), "")
	}
	return plugin.Source{Manifest: manifest, Module: module, Origin: "built-in"}, nil
}

// ProviderGrant is what a provider of the config gives its plugin.
func ProviderGrant(c config.Provider) plugin.Grant {
	return plugin.Grant{
		Capabilities: plugin.Capabilities{Secrets: []string{provider.SecretName}, Clock: true, Random: true},
		Config:       c.Options,
	}
}

// service loads a provider's plugin and resolves its keys.
func (a *agents) service(ctx context.Context, name string) (*service, error) {
	c := a.config.Providers[name]
	keys, err := a.keys(ctx, name, c)
	if err != nil {
		return nil, err
	}
	src, err := FindPlugin(a.home, c.Plugin)
	if err != nil {
		return nil, err
	}
	p, err := a.runtime.Load(ctx, src, ProviderGrant(c))
	if err != nil {
		return nil, fault.Wrap(err, fault.Plugin, fmt.Sprintf("load plugin of provider %q", name), "`zchost plugin inspect "+c.Plugin+"` shows it")
	}
	s := &service{
		name: name, plugin: p, options: p.Config(), keys: keys,
		baseURL: c.BaseURL, breakers: make(map[string]*reliability.Breaker),
	}
	if err := s.check(name, a.config); err != nil {
		p.Close()
		return nil, err
	}
	return s, nil
}

// check finds what only the manifest can tell.
func (s *service) check(name string, cfg config.Config) error {
	m := s.plugin.Manifest()
	at := cfg.Origin("providers." + name + ".plugin").String()
	if m.Kind != abi.KindProvider || m.Provider == nil {
		return fault.New(fault.Config, fmt.Sprintf("%s: plugin %q is a %s, not a provider", at, m.Name, m.Kind), "name a provider plugin; `zchost plugin list` shows them")
	}
	if s.baseURL == "" {
		s.baseURL = m.Provider.DefaultBaseURL
	}
	if s.baseURL == "" {
		return fault.New(fault.Config, fmt.Sprintf("%s: provider %q has no base_url, and its plugin has no default", at, name), "set providers."+name+".base_url")
	}
	base, err := egress.ParseBaseURL(s.baseURL)
	if err != nil {
		return fault.Wrap(err, fault.Config, fmt.Sprintf("%s: base_url of provider %q", at, name), "write it as https://HOST/PATH")
	}
	s.baseURL = base
	return nil
}

// label tells keys apart whose references have the same one: two commands of
// one program.
func label(keys []reliability.Key, label string) string {
	same := 1
	for _, k := range keys {
		if k.Label == label || strings.HasPrefix(k.Label, label+"#") {
			same++
		}
	}
	if same == 1 {
		return label
	}
	return fmt.Sprintf("%s#%d", label, same)
}

// keys resolves a provider's references. The redactor learns every value
// before anything else can.
func (a *agents) keys(ctx context.Context, name string, c config.Provider) (*reliability.Keys, error) {
	var keys []reliability.Key
	for i, text := range c.APIKeys {
		ref, err := secret.ParseRef(text)
		if err != nil {
			return nil, fmt.Errorf("providers.%s.api_keys[%d]: %w", name, i, err)
		}
		value, err := a.secrets.Resolve(ctx, ref)
		if err != nil {
			at := a.config.Origin(fmt.Sprintf("providers.%s.api_keys[%d]", name, i))
			return nil, fault.Wrap(err, fault.Secret, fmt.Sprintf("%s: key of provider %q", at, name), "")
		}
		a.redactor.Add(value)
		keys = append(keys, reliability.Key{Label: label(keys, ref.Label()), Value: value})
	}
	return reliability.NewKeys(keys...), nil
}
