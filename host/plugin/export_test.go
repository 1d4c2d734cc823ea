package plugin

import (
	"context"
	"time"
)

// Slim is what Load does to a module before it is compiled.
func Slim(binary []byte) ([]byte, error) {
	m, err := inspect(binary)
	if err != nil {
		return nil, err
	}
	return m.slim(), nil
}

// ExtismFunctions lists what a plugin may import from extism:host/env.
func ExtismFunctions() map[string][2]string {
	all := map[string][2]string{}
	for name, sig := range extismFunctions() {
		all[name] = [2]string{sig.params, sig.results}
	}
	return all
}

// Trim bounds the compile cache of r.
func (r *Runtime) Trim(limit int64) error { return r.cache.trim(limit) }

// CacheVersionDir is where r keeps its entries.
func (r *Runtime) CacheVersionDir() string { return r.cache.dir }

// DropIdle closes the idle instances of p.
func (p *Plugin) DropIdle(ctx context.Context) {
	later := time.Now().Add(time.Hour)
	p.pool.drop(ctx, later, later)
}
