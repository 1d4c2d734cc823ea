package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/plugin"
	"github.com/zchost/zchost/host/secret"
)

// doctorCmd looks for what is wrong.
type doctorCmd struct {
	Offline bool `help:"Do not connect to the providers."`
	JSON    bool `name:"json" help:"Print JSON."`
}

// verdict says how bad a finding is.
type verdict string

const (
	verdictOK   verdict = "ok"
	verdictWarn verdict = "warn"
	verdictFail verdict = "fail"
)

// finding is one thing that was looked at.
type finding struct {
	Verdict verdict `json:"verdict"`
	// What was looked at, and what was found.
	What   string `json:"what"`
	Detail string `json:"detail"`
	// Hint is what to do; empty if all is well.
	Hint string `json:"hint,omitempty"`
}

func ok(what, detail string) finding           { return finding{verdictOK, what, detail, ""} }
func warn(what, detail, hint string) finding   { return finding{verdictWarn, what, detail, hint} }
func failed(what, detail, hint string) finding { return finding{verdictFail, what, detail, hint} }

// failedBy is a finding made of an error.
func failedBy(what string, err error, hint string) finding {
	if h := fault.HintOf(err); h != "" {
		hint = h
	}
	return failed(what, err.Error(), hint)
}

// Run looks at everything and prints what it found; one failure makes the exit
// code 1.
func (c doctorCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.loadConfig()
	checks := []func() []finding{
		func() []finding { return []finding{checkSystem(), checkHome(a.home)} },
		func() []finding { return checkConfig(cfg, err) },
		func() []finding { return append(checkSecrets(ctx, cfg), checkToolSecrets(ctx, cfg)...) },
		func() []finding { return checkPlugins(ctx, a, cfg) },
		func() []finding { return checkTools(ctx, a, cfg, c.Offline) },
		func() []finding { return checkJournal(ctx, a, time.Now()) },
		func() []finding { return checkReach(ctx, a, cfg, c.Offline) },
	}
	all := []finding{}
	bad := false
	for _, check := range checks {
		for _, f := range check() {
			all = append(all, f)
			bad = bad || f.Verdict == verdictFail
			if c.JSON {
				continue
			}
			if err := a.screen.Finding(string(f.Verdict), f.What, f.Detail, f.Hint); err != nil {
				return err
			}
		}
	}
	if c.JSON {
		if err := a.printJSON(all); err != nil {
			return err
		}
	}
	if bad {
		return exitError(1)
	}
	return nil
}

func checkSystem() finding {
	detail := fmt.Sprintf("zchost %s, %s, %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if !plugin.Compiles() {
		return warn("system", detail+": plugins are interpreted here, some 75 times slower", "use amd64 or arm64, where they are compiled")
	}
	return ok("system", detail)
}

// checkHome looks at who may use the home directory.
func checkHome(dir string) finding {
	home, err := host.FindHome(dir)
	if fault.CodeOf(err) == fault.NotFound {
		return warn("home", "there is none at "+dir+" yet", "zchost init or zchost chat makes it")
	}
	if err != nil {
		return failedBy("home", err, "")
	}
	info, err := os.Stat(home.Dir)
	if err != nil {
		return failedBy("home", err, "make it readable")
	}
	detail := fmt.Sprintf("%s, mode %04o", home.Dir, info.Mode().Perm())
	probe, err := os.CreateTemp(home.Dir, ".doctor-*")
	if err != nil {
		return failed("home", detail+": it cannot be written", "make it writable for this user, or name another with --home; reading commands work all the same")
	}
	if err := errors.Join(fillProbe(probe), probe.Close(), os.Remove(probe.Name())); err != nil {
		return diskFinding(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return warn("home", detail+": others may look into it", "chmod 700 "+home.Dir)
	}
	return ok("home", detail)
}

// probeSize is what has to fit on the disk: more than a small turn takes.
const probeSize = 64 << 10

// fillProbe writes to the disk: a file can be made on a full one.
func fillProbe(f *os.File) error {
	if _, err := f.Write(make([]byte, probeSize)); err != nil {
		return err
	}
	return f.Sync()
}

func diskFinding(err error) finding {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return failed("home", "the disk is full: "+err.Error(), "free some space, or raise the quota; a running host goes on by itself")
	}
	return failedBy("home", err, "look at the disk")
}

func checkConfig(cfg config.Config, err error) []finding {
	var problems *config.Errors
	if errors.As(err, &problems) {
		var all []finding
		for _, p := range problems.List {
			hint := p.Hint
			p.Hint = ""
			all = append(all, failed("config", p.String(), hint))
		}
		return all
	}
	if err != nil {
		return []finding{failedBy("config", err, "")}
	}
	from := cfg.File()
	if from == "" {
		from = "no file, the defaults are used"
	}
	return []finding{ok("config", from)}
}

// checkSecrets resolves every reference. Values are dropped at once.
func checkSecrets(ctx context.Context, cfg config.Config) []finding {
	var all []finding
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		for i, text := range cfg.Providers[name].APIKeys {
			what := fmt.Sprintf("providers.%s.api_keys[%d]", name, i)
			ref, err := secret.ParseRef(text)
			if err != nil {
				continue // the config's check has told it
			}
			all = append(all, checkSecret(ctx, what, ref))
		}
	}
	return all
}

func checkSecret(ctx context.Context, what string, ref secret.Ref) finding {
	value, err := ref.Resolve(ctx)
	switch {
	case err != nil:
		return failedBy(what, err, "set it, or correct the reference")
	case value.Short():
		detail := fmt.Sprintf("%s is shorter than %d bytes: it cannot be removed from logs and errors", ref.Label(), secret.MinRedacted)
		return warn(what, detail, "use a longer key")
	}
	return ok(what, ref.Label()+" is there")
}

// checkPlugins loads the plugin of each provider, as the host does.
func checkPlugins(ctx context.Context, a *app, cfg config.Config) (all []finding) {
	r, err := pluginRuntime(ctx, a)
	if err != nil {
		return []finding{failedBy("plugins", err, "")}
	}
	defer func() {
		if err := r.Close(context.WithoutCancel(ctx)); err != nil {
			all = append(all, failedBy("plugins", err, ""))
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		all = append(all, checkPlugin(ctx, a, r, name, cfg.Providers[name]))
	}
	return all
}

// checkPlugin loads a provider's plugin. A failure is named by the key of the
// config that it is about.
func checkPlugin(ctx context.Context, a *app, r *plugin.Runtime, name string, p config.Provider) finding {
	at := "providers." + name
	source, err := host.FindPlugin(host.Home{Dir: a.home}, p.Plugin)
	if err != nil {
		f := failedBy(at+".plugin", err, "")
		if names, listErr := pluginNames(a); fault.CodeOf(err) == fault.NotFound && listErr == nil && len(names) > 0 {
			f.Hint = "there are " + strings.Join(names, ", ")
		}
		return f
	}
	grant := host.ProviderGrant(p)
	loaded, err := r.Load(ctx, source, grant)
	if err != nil {
		key := at + ".plugin"
		grant.Config = nil
		if bare, bareErr := r.Load(ctx, source, grant); bareErr == nil { // so it is the options
			bare.Close()
			key = at + ".options"
		}
		return failedBy(key, err, "zchost plugin inspect "+p.Plugin+" shows it")
	}
	defer loaded.Close()
	switch m := loaded.Manifest(); {
	case m.Kind != abi.KindProvider || m.Provider == nil:
		return failed(at+".plugin", fmt.Sprintf("%s is a %s, not a provider", p.Plugin, m.Kind), "name a provider plugin; zchost plugin list shows them")
	case p.BaseURL == "" && m.Provider.DefaultBaseURL == "":
		return failed(at+".base_url", "it is not set, and the plugin has no default", "set it")
	}
	return ok("plugin "+p.Plugin, loaded.Fingerprint().String()+" for "+at)
}

// checkJournal looks at the database, who uses it, and the clock.
func checkJournal(ctx context.Context, a *app, now time.Time) []finding {
	path := host.Home{Dir: a.home}.Journal()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return []finding{ok("journal", "none yet"), checkClock(now, time.Time{})}
	}
	if err := journal.Check(ctx, path); err != nil {
		return []finding{failedBy("journal", err, ""), checkClock(now, time.Time{})}
	}
	r, err := journal.OpenReader(ctx, path)
	if err != nil {
		return []finding{failedBy("journal", err, ""), checkClock(now, time.Time{})}
	}
	all := lookInto(ctx, r, path, now)
	if err := r.Close(); err != nil {
		all = append(all, failedBy("journal", err, ""))
	}
	return all
}

func lookInto(ctx context.Context, r *journal.Reader, path string, now time.Time) []finding {
	turns, err := r.Turns(ctx, journal.TurnFilter{Limit: 1})
	if err != nil {
		return []finding{failedBy("journal", err, "")}
	}
	boots, err := r.Boots(ctx)
	if err != nil {
		return []finding{failedBy("journal", err, "")}
	}
	var size int64
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	all := []finding{ok("journal", fmt.Sprintf("%s, %d KiB", filepath.Base(path), size>>10)), owner(boots)}
	var last time.Time
	if len(turns) > 0 {
		last = turns[0].Created
	}
	return append(all, checkClock(now, last))
}

// runs reports whether a host has the home: a start without an end whose process
// lives.
func runs(boots []journal.Boot) bool {
	return len(boots) > 0 && boots[0].Ended.IsZero() && alive(int(boots[0].PID))
}

// owner tells who has the home.
func owner(boots []journal.Boot) finding {
	if len(boots) == 0 || !boots[0].Ended.IsZero() {
		return ok("in use", "by nobody")
	}
	b := boots[0]
	if runs(boots) {
		return ok("in use", fmt.Sprintf("by process %d (zchost %s) since %s", b.PID, b.Version, clock(b.Started)))
	}
	return warn("in use", "by nobody, but the last host did not end in order", "the next start settles its turns")
}

// earliest is before this version was made.
const earliest = 2025

// checkClock compares the clock with what is known to have passed.
func checkClock(now, last time.Time) finding {
	const hint = "set the clock, for example with NTP: certificates and the order of turns depend on it"
	switch {
	case now.Year() < earliest:
		return failed("clock", "it says "+now.Format(time.RFC1123), hint)
	case last.After(now.Add(time.Minute)):
		return warn("clock", "it says "+now.Format(time.DateTime)+", but the last turn was at "+clock(last), hint)
	}
	return ok("clock", strings.TrimSpace(now.Format(time.DateTime)+" "+now.Format("MST")))
}
