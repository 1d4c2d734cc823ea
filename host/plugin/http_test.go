package plugin_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/plugin"
)

const mayHTTP = "[capabilities]\nhttp = [\"example.com\"]\n"

// askStdio is a plugin on stdin and stdout that sends its input as a request, so
// often, and gives the last response. The request is where from says, and the
// response goes to the address to.
func askStdio(times int, from func(size string) string, to int32) wasm {
	const fdRead, fdWrite, http, httpResult = 0, 1, 2, 3
	read := constant(0) + constant(0) + constant(1) + constant(16) + call(fdRead) + drop
	ask := store32(12, from(load32(16))+call(http)) + constant(to) + call(httpResult)
	return wasm{
		imports: []wasmImport{
			{"wasi_snapshot_preview1", "fd_read", i32 + i32 + i32 + i32, i32},
			{"wasi_snapshot_preview1", "fd_write", i32 + i32 + i32 + i32, i32},
			{"zchost:host/v1", "http", i32 + i32, i32},
			{"zchost:host/v1", "http_result", i32, ""},
		},
		funcs: []wasmFunc{{
			hookExport, "", i32,
			store32(0, constant(1024)) + store32(4, constant(60000)) + store32(8, constant(to)) + read + strings.Repeat(ask, times) +
				constant(1) + constant(8) + constant(1) + constant(20) + call(fdWrite),
		}},
		memory: []uint64{4},
	}
}

// askExtism is the same with Extism's blocks.
func askExtism(times int) wasm {
	const inputOffset, length, outputSet, http = 0, 1, 2, 3
	ask := constant(64) + call(inputOffset) + call(http) + "\x37\x03\x00" // i64.store
	block := constant(64) + "\x29\x03\x00"                                // i64.load
	return wasm{
		imports: []wasmImport{
			{"extism:host/env", "input_offset", "", i64},
			{"extism:host/env", "length", i64, i64},
			{"extism:host/env", "output_set", i64 + i64, ""},
			{"zchost:host/v1", "http", i64, i64},
		},
		funcs:  []wasmFunc{{hookExport, "", i32, strings.Repeat(ask, times) + block + block + call(length) + call(outputSet) + constant(0)}},
		memory: []uint64{1},
	}
}

func whole(size string) string { return constant(1024) + size }

// asker loads a plugin that may send requests.
func asker(t *testing.T, io, more string, module wasm, http plugin.HTTP) *plugin.Plugin {
	t.Helper()
	return load(t, newRuntime(t), manifest(io, mayHTTP+more), module.bytes(), plugin.Grant{
		Capabilities: plugin.Capabilities{HTTP: []string{"example.com"}}, HTTP: http,
	})
}

// A request goes to the host as it is, and its response comes back.
func TestHTTP(t *testing.T) {
	t.Parallel()
	for io, module := range map[string]wasm{"stdio": askStdio(1, whole, 1<<17), "extism": askExtism(1)} {
		p := asker(t, io, "", module, func(_ context.Context, r abi.HTTPRequest) abi.HTTPResponse {
			return abi.HTTPResponse{Status: 200, URL: r.URL, Body: r.Method + " " + r.Headers[0].Value}
		})
		got := say(t, p, `{"method":"GET","url":"https://example.com/","headers":[{"name":"a","value":"{{secret:k}}"}]}`)
		if want := `{"status":200,"body":"GET {{secret:k}}","url":"https://example.com/"}`; got != want {
			t.Errorf("%s: got %s, want %s", io, got, want)
		}
		for in, want := range map[string]string{
			`{"url":`:       `{"status":0,"failure":{"class":"plugin","message":"decode HTTPRequest: json: unexpected end at byte 7"}}`,
			`{"script":{}}`: `{"status":0,"failure":{"class":"plugin","message":"a script is not sent"}}`,
		} {
			if got := say(t, p, in); got != want {
				t.Errorf("%s: %s gave %s, want %s", io, in, got, want)
			}
		}
	}
}

// One call sends a bounded number of requests.
func TestHTTPIsBounded(t *testing.T) {
	t.Parallel()
	for io, module := range map[string]wasm{"stdio": askStdio(33, whole, 1<<17), "extism": askExtism(33)} {
		sent := 0
		p := asker(t, io, "", module, func(context.Context, abi.HTTPRequest) abi.HTTPResponse {
			sent++
			return abi.HTTPResponse{Status: 200}
		})
		for range 2 { // each call begins anew
			sent = 0
			if got := say(t, p, `{}`); sent != abi.MaxCallRequests || !strings.Contains(got, "all the requests that one call may send") {
				t.Errorf("%s: %d were sent, then: %s", io, sent, got)
			}
		}
	}
}

// "A blocking host function is not interrupted by the deadline": so it ends with
// its context, and the call with it.
func TestHTTPEndsWithTheCall(t *testing.T) {
	t.Parallel()
	for io, module := range map[string]wasm{"stdio": askStdio(1, whole, 1<<17), "extism": askExtism(1)} {
		p := asker(t, io, "[limits]\ncall_timeout_ms = 200", module, func(ctx context.Context, _ abi.HTTPRequest) abi.HTTPResponse {
			<-ctx.Done()
			return abi.HTTPResponse{}
		})
		began := time.Now()
		if got := say(t, p, `{}`); got != "!timeout" || time.Since(began) > 10*time.Second {
			t.Errorf("%s: got %s after %s", io, got, time.Since(began))
		}
		cause := errors.New("the person pressed stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if _, err := p.Call(ctx, hookExport, []byte(`{}`)); !errors.Is(err, cause) {
			t.Errorf("%s: a cancelled call gave %v", io, err)
		}
		if h := p.Health(); h.Failures != 1 {
			t.Errorf("%s: %d failures in a row", io, h.Failures)
		}
	}
}

// C126: addresses and sizes that the guest made up end its call and nothing
// else.
func TestHTTPBadAddresses(t *testing.T) {
	t.Parallel()
	for name, module := range map[string]wasm{
		"request":  askStdio(1, func(string) string { return constant(-16) + constant(8) }, 1<<17),
		"size":     askStdio(1, func(string) string { return constant(1024) + constant(-1) }, 1<<17),
		"response": askStdio(1, whole, 4<<16-3),
	} {
		p := asker(t, "stdio", "", module, func(context.Context, abi.HTTPRequest) abi.HTTPResponse { return abi.HTTPResponse{Status: 200} })
		_, err := p.Call(t.Context(), hookExport, []byte(`{}`))
		if err == nil || reason(t, err) != plugin.ReasonTrap || !strings.Contains(err.Error(), "memory that it does not have") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Whoever may not send cannot: the module is refused, not the request.
func TestHTTPNeedsItsCapability(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	none := func(context.Context, abi.HTTPRequest) abi.HTTPResponse { return abi.HTTPResponse{} }
	allow := func(hosts ...string) plugin.Grant {
		return plugin.Grant{Capabilities: plugin.Capabilities{HTTP: hosts}, HTTP: none}
	}
	stdio := askStdio(1, whole, 1<<17).bytes()
	foreign := askExtism(1)
	foreign.imports = append(foreign.imports, wasmImport{"zchost:host/v1", "http_result", i32, ""})
	for name, c := range map[string]struct {
		toml, module []byte
		grant        plugin.Grant
		want         string
	}{
		"not asked for":   {manifest("stdio", ""), stdio, allow("example.com"), "imports zchost:host/v1.http, which needs the capability http"},
		"not granted":     {manifest("stdio", mayHTTP), stdio, allow("example.org", "sub.example.com", "*.example.com"), `capability http "example.com" is not granted`},
		"nothing to send": {manifest("stdio", mayHTTP), stdio, plugin.Grant{Capabilities: plugin.Capabilities{HTTP: []string{"example.com"}}}, "nothing to send requests with"},
		"not for extism":  {manifest("extism", mayHTTP), foreign.bytes(), allow("example.com"), `http_result, which there is not with io = "extism"`},
	} {
		_, err := r.Load(t.Context(), plugin.Source{Manifest: c.toml, Module: c.module}, c.grant)
		if err == nil {
			t.Errorf("%s: it was loaded", name)
			continue
		}
		if got := strings.Join(problems(t, err), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	for asked, permitted := range map[string]string{"example.com": "*", "api.example.com": "*.example.com", "*.api.example.com": "*.example.com", "API.example.com": "api.example.com"} {
		toml := manifest("stdio", "[capabilities]\nhttp = [\""+asked+"\"]\n")
		load(t, r, toml, stdio, allow(permitted))
	}
}

// The fingerprint tells the hosts.
func TestHTTPIsInTheFingerprint(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	none := func(context.Context, abi.HTTPRequest) abi.HTTPResponse { return abi.HTTPResponse{} }
	seen := map[string]bool{}
	for _, host := range []string{"example.com", "example.org"} {
		toml := manifest("stdio", "[capabilities]\nhttp = [\""+host+"\"]\n")
		p := load(t, r, toml, askStdio(1, whole, 1<<17).bytes(), plugin.Grant{Capabilities: plugin.Capabilities{HTTP: []string{"*"}}, HTTP: none})
		seen[p.Fingerprint().Full()] = true
	}
	if len(seen) != 2 {
		t.Error("two plugins with different hosts have the same fingerprint")
	}
}
