package egress_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/zchost/zchost/host/egress"
)

// A proxy from the environment is used, and its password does not show.
// net/http reads the environment once, so this runs in a process of its own.
func TestProxy(t *testing.T) {
	t.Parallel()
	if os.Getenv(childVariable) == "1" {
		proxyChild(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxy$", "-test.v")
	cmd.Env = append(os.Environ(), childVariable+"=1", "NO_PROXY=", "HTTP_PROXY=http://me:hunter2-hunter2@proxy.test:3128")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"x-via: proxy.test:3128", "x-echo: bWU6[redacted]", `TOLD: answer from http://vendor.test/x cannot be used: it is encoded as "ame:[redacted]"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "hunter2") {
		t.Errorf("the password shows:\n%s", out)
	}
}

// proxyChild asks through a proxy that repeats the credentials it was given.
func proxyChild(t *testing.T) {
	t.Helper()
	c := egress.New(egress.Options{Dial: func(_ context.Context, _, address string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			req, err := http.ReadRequest(bufio.NewReader(far))
			if err != nil {
				return
			}
			code := strings.TrimPrefix(req.Header.Get("Proxy-Authorization"), "Basic ")
			plain, _ := base64.StdEncoding.DecodeString(code)
			write(far, "HTTP/1.1 200 OK\r\nX-Via: "+address+"\r\nContent-Encoding: a"+string(plain)+"\r\nContent-Length: 0\r\nX-Echo: "+code+"\r\n\r\n")
		}()
		return near, nil
	}})
	defer c.Close()
	resp, err := c.Send(t.Context(), egress.Endpoint{BaseURL: "http://vendor.test"}, egress.Request{Method: http.MethodGet, URL: "http://vendor.test/x"})
	if err == nil {
		for _, h := range resp.Headers {
			t.Logf("%s: %s", h.Name, h.Value)
		}
		_, err = resp.Body(10)
	}
	t.Logf("TOLD: %v", err)
}
