package plugintool_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/plugin"
	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/host/tool"
	"github.com/zchost/zchost/host/tool/plugintool"
	sdk "github.com/zchost/zchost/sdk/tool"
	"github.com/zchost/zchost/sdk/tooltest"
)

const (
	key = "sk-live-51HqLyjWDarjtT1zdp7dc"

	pure = "abi = 1\nkind = \"tool\"\nio = \"stdio\"\nname = \"guest\"\nversion = \"1.0.0\"\n"
	// patient is for slow machines.
	patient = "[limits]\ncall_timeout_ms = 30000\n"
	sends   = pure + "[capabilities]\nhttp = [\"api.example.com\", \"cdn.example.com\", \"inner.example.com\"]\nsecrets = [\"key\"]\n"
	lists   = "[config]\ntype = \"object\"\n[config.properties.list]\ntype = \"string\"\n"
)

func options(o plugintool.Options) plugintool.Options {
	o.HTTP = []string{"*.example.com"}
	if o.Secrets == nil {
		o.Secrets = map[string]secret.Value{"key": secret.New(key), "other": secret.New("other-secret-value")}
	}
	return o
}

func load(t *testing.T, s plugin.Source, o plugintool.Options) (*plugin.Plugin, *tool.Set) {
	t.Helper()
	p, tools, err := plugintool.Load(t.Context(), newRuntime(t), s, options(o))
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(tools)
	if err != nil {
		t.Fatal(err)
	}
	return p, set
}

func run(ctx context.Context, t *testing.T, s *tool.Set, name, arguments string) tool.Outcome {
	t.Helper()
	one, ok := s.Find(name)
	if !ok {
		t.Fatalf("there is no tool %s", name)
	}
	return tool.Run(ctx, one, tool.Call{ID: "t.1.1", Arguments: abi.Raw(arguments)}, tool.Limits{})
}

// The compiled examples pass the suite that they pass natively.
func TestDiceCompiled(t *testing.T) {
	t.Parallel()
	p, tools := load(t, example(t, "tool-dice", diceModule), plugintool.Options{})
	tooltest.Run(t, p, tooltest.Suite{Cases: []tooltest.Case{
		{Tool: "dice_odds", Arguments: `{"dice":"3d6","total":17}`, Want: sdk.Text("3d6 gives at least 17 with a probability of 1.85 %.")},
		{Tool: "dice_odds", Arguments: `{"dice":"many","total":4}`, Want: sdk.Failed("Write the dice like 3d6: at most 50 dice, 2 to 100 sides.")},
	}})
	out := run(t.Context(), t, tools, "dice_odds", `{"dice":"2d6","total":12}`)
	if out.Content != "2d6 gives at least 12 with a probability of 2.78 %." || out.Failed != nil {
		t.Errorf("got %+v", out)
	}
	spec := tools.Tools()[0].Spec()
	if spec.Source != "plugin "+p.Fingerprint().String() || spec.Effect != abi.EffectNone {
		t.Errorf("the tool is %+v", spec)
	}
}

func TestWeatherCompiled(t *testing.T) {
	t.Parallel()
	p, err := newRuntime(t).Load(t.Context(), example(t, "tool-weather", weatherModule), plugin.Grant{
		Capabilities: plugin.Capabilities{HTTP: []string{"*.open-meteo.com"}},
		HTTP: func(_ context.Context, r abi.HTTPRequest) abi.HTTPResponse {
			switch {
			case strings.Contains(r.URL, "name=Far"):
				return abi.HTTPResponse{Failure: &abi.Failure{Class: abi.FailureNetwork, Message: "no route"}}
			case strings.HasPrefix(r.URL, "https://geocoding-api.open-meteo.com/"):
				return abi.HTTPResponse{Status: 200, Body: `{"results":[{"name":"Bern","latitude":46.9,"longitude":7.4,"country":"Switzerland"}]}`}
			}
			return abi.HTTPResponse{Status: 200, Body: `{"current_units":{"temperature_2m":"°C","wind_speed_10m":"km/h"},"current":{"temperature_2m":18.5,"wind_speed_10m":7}}`}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	tooltest.Run(t, p, tooltest.Suite{Cases: []tooltest.Case{
		{Tool: "weather", Arguments: `{"place":"Bern"}`, Want: sdk.Text("Bern, Switzerland: 18.5 °C, wind 7 km/h")},
		{Tool: "weather", Arguments: `{"place":"Far"}`, Want: sdk.Failed("The weather service cannot be reached: no route")},
	}})
}

// Requests go by the rules: through the whole way, from the guest to a server.
func TestRequests(t *testing.T) {
	t.Parallel()
	client := internet(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "https://cdn.example.com/got", http.StatusFound)
			return
		case "/out":
			http.Redirect(w, r, "https://evil.example.com/got", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte(r.Method + " " + r.Host + r.URL.RequestURI() + " got " + r.Header.Get("Authorization")))
	})
	_, tools := load(t, source(t, sends+patient, guestModule), plugintool.Options{Client: client})
	for arguments, want := range map[string]string{
		`{"method":"GET","url":"https://api.example.com/x","headers":[{"name":"Authorization","value":"Bearer {{secret:key}}"}]}`: "200 Bearer [redacted] GET api.example.com/x got Bearer [redacted]",
		`{"url":"https://api.example.com/x","body":"b"}`: "200  POST api.example.com/x got ",
		`{"method":"GET","url":"https://api.example.com/away","headers":[{"name":"Authorization","value":"Bearer {{secret:key}}"}]}`: "200  GET cdn.example.com/got got ",
		`{"method":"GET","url":"https://api.example.com/out"}`:                                                                       "invalid_request: redirect from https://api.example.com/out to https://evil.example.com not followed: its target is at a host that is not among those allowed",
		`{"method":"GET","url":"https://inner.example.com/"}`:                                                                        "plugin: request to https://inner.example.com/ refused: inner.example.com has the address 10.1.2.3, which is not a public one",
		`{"method":"GET","url":"https://evil.example.com/"}`:                                                                         "plugin: plugin's request refused: its URL is at a host that is not among those allowed",
		`{"method":"GET","url":"https://api.example.com/","headers":[{"name":"A","value":"{{secret:other}}"}]}`:                      "plugin: plugin's request refused: it names the secret \"other\", which it was not granted",
		`{"url":"https://api.example.com/","body":"{{secret:key}}"}`:                                                                 "plugin: plugin's request refused: a secret's placeholder is in its body",
		`{"method":"CONNECT","url":"https://api.example.com/"}`:                                                                      "plugin: plugin's request refused: method \"CONNECT\" is not allowed",
	} {
		if out := run(t.Context(), t, tools, "send", arguments); out.Content != want || out.Failed != nil {
			t.Errorf("%s gave %q (%v), want %q", arguments, out.Content, out.Failed, want)
		}
	}
	if out := run(t.Context(), t, tools, "many", `{}`); !strings.Contains(out.Content, "it has sent all the requests that one call may send") || !out.IsError {
		t.Errorf("40 requests gave %+v", out)
	}
}

// STR-9: a request that waits ends with the call, its connection with it.
func TestRequestEndsWithTheCall(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{}, 2)
	var arrived atomic.Int64
	begun := make(chan struct{}, 2)
	client := internet(t, func(_ http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		begun <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	})
	_, tools := load(t, source(t, sends+"[limits]\ncall_timeout_ms = 5000\n", guestModule), plugintool.Options{Client: client})
	const get = `{"method":"GET","url":"https://api.example.com/"}`
	out := run(t.Context(), t, tools, "send", get)
	if out.Failed == nil || out.Failed.Class != tool.Timeout || !strings.Contains(out.Content, "the plugin took longer than 5s") {
		t.Errorf("at its deadline it gave %+v", out)
	}
	wait(t, gone)
	<-begun
	_, tools = load(t, source(t, sends+patient, guestModule), plugintool.Options{Client: client})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	out = run(ctx, t, tools, "send", get)
	if out.Failed == nil || out.Failed.Class != tool.Cancelled {
		t.Errorf("cancelled it gave %+v", out)
	}
	wait(t, gone)
	if arrived.Load() != 2 {
		t.Errorf("%d requests arrived: a call is never repeated", arrived.Load())
	}
}

func wait(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(20 * time.Second):
		t.Fatal("the request goes on")
	}
}

// A plugin that fails fails its own call, typed, and is left alone when it
// fails again and again.
func TestFailuresAreTyped(t *testing.T) {
	t.Parallel()
	_, tools := load(t, source(t, pure+"[limits]\ncall_timeout_ms = 4000\n[capabilities]\nhttp = [\"api.example.com\"]\n", guestModule), plugintool.Options{Client: internet(t, nil)})
	for _, c := range []struct {
		name  string
		class tool.Class
		text  string
	}{
		{"panic", tool.Failed, "The call failed: the plugin failed (panic)"},
		{"fail", tool.Failed, "The call failed: the plugin says: it is broken"},
		{"loop", tool.Timeout, "The call failed: the plugin took longer than 4s; what it did until then is not known"},
	} {
		out := run(t.Context(), t, tools, c.name, `{}`)
		if out.Failed == nil || out.Failed.Class != c.class || out.Content != c.text {
			t.Errorf("%s gave %+v", c.name, out)
		}
	}
	if out := run(t.Context(), t, tools, "echo", `{"a":1}`); out.Content != `t.1.1 {"a":1} {}"echo"` {
		t.Errorf("then a good call gave %+v", out)
	}
	for range 5 {
		run(t.Context(), t, tools, "fail", `{}`)
	}
	if out := run(t.Context(), t, tools, "echo", `{}`); out.Failed == nil || out.Failed.Class != tool.Unavailable {
		t.Errorf("after five failures it gave %+v", out)
	}
}

// A plugin that can send nothing is believed to have no effects; one that can
// send at least reads. What it says of writing is believed always.
func TestEffects(t *testing.T) {
	t.Parallel()
	_, tools := load(t, source(t, sends, guestModule), plugintool.Options{Client: internet(t, nil)})
	got := map[string]abi.Effect{}
	for _, one := range tools.Tools() {
		got[one.Spec().Name] = one.Spec().Effect
	}
	want := map[string]abi.Effect{"send": "write", "loop": "read", "panic": "read", "fail": "read", "echo": "read", "many": "read"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A list of tools that no agent could use is a failure of the plugin, and its
// settings reach it.
func TestListsAreChecked(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	toml := sends + patient + lists
	for list, want := range map[string]string{
		"none":       "it offers 0 tools",
		"bad effect": `its effect is "delete"`,
		"bad name":   `"a b"`,
		"bad schema": `not "object"`,
		"twice":      "two tools named a",
		"fails":      "no list today",
	} {
		o := options(plugintool.Options{Client: internet(t, nil), Config: []byte(`{"list":"` + list + `"}`)})
		_, _, err := plugintool.Load(t.Context(), r, source(t, toml, guestModule), o)
		var call *plugin.CallError
		if !errors.As(err, &call) || call.Export != abi.ExportTools || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gave %v, want %q", list, err, want)
		}
	}
	if left := r.Plugins(); len(left) > 0 {
		t.Errorf("%d plugins are still loaded", len(left))
	}
}

// What a plugin asks for and does not get keeps it from being loaded.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	for name, c := range map[string]struct {
		toml string
		o    plugintool.Options
		want string
	}{
		"another kind": {strings.Replace(pure, `"tool"`, `"hook"`, 1), plugintool.Options{}, "its kind is hook and not tool"},
		"no manifest":  {"kind", plugintool.Options{}, "plugin.toml line 1"},
		"host":         {sends, plugintool.Options{HTTP: []string{"api.example.com"}, Client: internet(t, nil), Secrets: map[string]secret.Value{"key": secret.New(key)}}, `capability http "cdn.example.com" is not granted`},
		"secret":       {sends, plugintool.Options{HTTP: []string{"*"}, Client: internet(t, nil)}, `capability secrets "key" is not granted`},
		"no http":      {pure, plugintool.Options{HTTP: []string{"*"}, Client: internet(t, nil)}, "imports zchost:host/v1.http, which needs the capability http"},
		"clock":        {pure + "[capabilities]\nclock = true\n", plugintool.Options{}, "capability clock is not granted"},
	} {
		_, _, err := plugintool.Load(t.Context(), r, source(t, c.toml, guestModule), c.o)
		var load *plugin.LoadError
		if !errors.As(err, &load) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s gave %v, want %q", name, err, c.want)
		}
	}
}
