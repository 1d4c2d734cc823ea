package plugintool_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/plugin"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "zchost-plugintool-test-")
	if err != nil {
		panic(err)
	}
	for name, value := range map[string]string{dirVariable: dir, "NO_PROXY": "*"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(dir); err != nil {
			panic(err)
		}
		os.Exit(code)
	}))
}

// dirVariable names the directory of this run: built guests, compile cache.
const dirVariable = "ZCHOST_PLUGINTOOL_TEST_DIR"

// The guests are built once for each run.
var (
	diceModule    = sync.OnceValues(func() ([]byte, error) { return build("../../../examples/tool-dice") })
	weatherModule = sync.OnceValues(func() ([]byte, error) { return build("../../../examples/tool-weather") })
	guestModule   = sync.OnceValues(func() ([]byte, error) { return build("./testdata/guest") })
)

func build(dir string) ([]byte, error) {
	out := filepath.Join(os.Getenv(dirVariable), filepath.Base(dir)+".wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w -buildid=", "-o", out, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w: %s", dir, err, text)
	}
	return os.ReadFile(out)
}

// source is a plugin of this repository.
func source(t *testing.T, toml string, module func() ([]byte, error)) plugin.Source {
	t.Helper()
	wasm, err := module()
	if err != nil {
		t.Fatal(err)
	}
	return plugin.Source{Manifest: []byte(toml), Module: wasm, Origin: "test"}
}

func example(t *testing.T, name string, module func() ([]byte, error)) plugin.Source {
	t.Helper()
	toml, err := os.ReadFile("../../../examples/" + name + "/plugin.toml")
	if err != nil {
		t.Fatal(err)
	}
	return source(t, string(toml), module)
}

func newRuntime(t *testing.T) *plugin.Runtime {
	t.Helper()
	r, err := plugin.NewRuntime(context.Background(), plugin.Options{CacheDir: filepath.Join(os.Getenv(dirVariable), "cache")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

// internet is a client for which every name leads to one server, which speaks
// TLS as any of them. inner.example.com has a private address.
func internet(t *testing.T, answer http.HandlerFunc) *egress.Client {
	t.Helper()
	server := httptest.NewUnstartedServer(answer)
	server.StartTLS()
	t.Cleanup(server.Close)
	trusted := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs //nolint:errcheck,forcetypeassert // what httptest gives
	c := egress.New(egress.Options{
		RootCAs: trusted,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			if host == "inner.example.com" {
				return []netip.Addr{netip.MustParseAddr("10.1.2.3")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
	})
	t.Cleanup(c.Close)
	return c
}
