//go:build e2e

package e2e

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/mcp"
	"github.com/zchost/zchost/host/tool"
)

// All tools of the reference server can be used over both transports, and what
// they give becomes text. A call that is cancelled returns at once, and the
// server goes on to serve others.
func TestMCPTools(t *testing.T) {
	t.Parallel()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	for name, config := range map[string]func(*testing.T) mcp.Config{
		"stdio": func(t *testing.T) mcp.Config { return mcp.Config{Command: everything(t, "stdio")} },
		"http":  func(t *testing.T) mcp.Config { return mcp.Config{URL: everythingHTTP(t), Transport: transport} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t)
			c.Name, c.Environ, c.Trust, c.Patience = "all", append(os.Environ(), "A_KEY=sk-of-the-host"), true, time.Minute
			s := mcp.Start(t.Context(), c)
			t.Cleanup(s.Close)
			tools, err := s.Tools(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if st := s.Status(); len(st.LeftOut) > 0 || len(tools) < 10 {
				t.Errorf("%d tools; left out: %q", len(tools), st.LeftOut)
			}
			set, err := tool.NewSet(tools)
			if err != nil {
				t.Fatal(err)
			}
			for _, test := range []struct{ name, args, want string }{
				{"echo", `{"message":"ü"}`, "Echo: ü"},
				{"get-tiny-image", `{}`, "\n[image, image/png, "},
				{"get-structured-content", `{"location":"Chicago"}`, `"temperature"`},
				{"get-resource-links", `{"count":1}`, "\n[resource demo://"},
				{"get-resource-reference", `{"resourceType":"Text","resourceId":1}`, "\n[resource demo://"},
			} {
				one, ok := set.Find("all__" + test.name)
				if !ok {
					t.Errorf("there is no %s", test.name)
					continue
				}
				if err := set.Check("all__"+test.name, test.args); err != nil {
					t.Error(err)
				}
				if one.Spec().Effect != abi.EffectRead {
					t.Errorf("%s has the effect %s", test.name, one.Spec().Effect)
				}
				if r, err := one.Call(t.Context(), tool.Call{Arguments: abi.Raw(test.args)}); err != nil || r.IsError || !strings.Contains(r.Content, test.want) {
					t.Errorf("%s gives %q, %v", test.name, r.Content, err)
				}
			}
			if env, ok := set.Find("all__get-env"); ok && name == "stdio" {
				if r, err := env.Call(t.Context(), tool.Call{}); err != nil || !strings.Contains(r.Content, `"PATH"`) || strings.Contains(r.Content, "sk-of-the-host") {
					t.Errorf("its environment is %s, %v", r.Content, err)
				}
			}
			long, ok := set.Find("all__trigger-long-running-operation")
			if !ok {
				t.Fatal("there is no long running operation")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err = long.Call(ctx, tool.Call{Arguments: abi.Raw(`{"duration":30,"steps":2}`)})
			var e *tool.Error
			if !errors.As(err, &e) || e.Class != tool.Timeout || time.Since(began) > 5*time.Second {
				t.Errorf("error %v after %s", err, time.Since(began))
			}
			if st := s.Status(); st.Phase != mcp.Ready || st.Starts != 1 {
				t.Errorf("status %+v", st)
			}
		})
	}
}
