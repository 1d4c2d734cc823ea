package egress_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/secret"
)

// spelled is the two secrets in every spelling in which a vendor may echo them.
func spelled(t *testing.T) string {
	t.Helper()
	var all []string
	for _, s := range []string{key, token} {
		once, err := json.Marshal("k" + s)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := json.Marshal(string(once))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s, string(once), string(twice), url.QueryEscape(s), url.PathEscape(s), base64.StdEncoding.EncodeToString([]byte("user:"+s)))
	}
	return strings.Join(all, " and ")
}

func wantClean(t *testing.T, where string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		for _, part := range []string{key, key[:12], token, "123456:AA", "123456%3AAA", "MjM0NTY6QUE", "c2stbGl2ZS"} {
			if strings.Contains(text, part) {
				t.Errorf("%s shows %s: %.300s", where, part, text)
			}
		}
	}
}

var everywhere = egress.Request{ //nolint:gochecknoglobals // a constant
	Headers: []abi.Header{{Name: "Authorization", Value: "Bearer {{secret:api_key}}"}},
	Body:    [][]byte{[]byte("{}")},
}

func everywhereAt(base string) egress.Request {
	r := everywhere
	r.URL = base + "/bot{{secret:token}}/send?key={{secret:api_key}}"
	return r
}

// C138: what the vendor echoes, in a body, a header or a frame, in whatever
// spelling and however cut, is free of secrets.
func TestEchoIsRedacted(t *testing.T) {
	t.Parallel()
	echo := spelled(t)
	c, server, _ := setup(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("Authorization")+" "+r.RequestURI)
		w.Header().Set("X-"+key, "name")
		w.WriteHeader(http.StatusBadRequest)
		for _, b := range []byte("data: " + echo + "\nevent: " + key + "\n\n") { // a write for each byte
			_, _ = w.Write([]byte{b})
			flush(w)
		}
	})
	for name, read := range map[string]func(*egress.Response) string{
		"body": func(r *egress.Response) string {
			b, err := r.Body(1 << 20)
			if err != nil {
				t.Error(err)
			}
			return string(b)
		},
		"frames": func(r *egress.Response) string {
			frames, err := drain(r.Frames(abi.FramingSSE))
			if err != io.EOF { //nolint:errorlint // io.EOF itself
				t.Error(err)
			}
			return strings.Join(frames, "\n")
		},
	} {
		resp, err := c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL, Secrets: secrets()}, everywhereAt(server.URL))
		if err != nil {
			t.Fatal(err)
		}
		text := read(resp)
		if !strings.Contains(text, " and ") || !strings.Contains(text, secret.Mask) {
			t.Errorf("%s is %s", name, text)
		}
		wantClean(t, name, text, fmt.Sprint(resp.Headers), resp.URL)
	}
}

// Where a body is cut, by its limit or by the connection, no half of a secret
// stays.
func TestCutBodyIsRedacted(t *testing.T) {
	t.Parallel()
	c, server, _ := setup(t, func(w http.ResponseWriter, r *http.Request) {
		text := strings.Repeat("x", 50) + key + strings.Repeat("y", 500)
		if r.Header.Get("X-Cut") == "" {
			_, _ = io.WriteString(w, text)
			return
		}
		_, _ = io.WriteString(w, text[:50+20])
		flush(w)
		panic(http.ErrAbortHandler)
	})
	server.Config.ErrorLog = nil
	for limit := int64(40); limit < 120; limit++ {
		resp, err := c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL, Secrets: secrets()}, everywhereAt(server.URL))
		if err != nil {
			t.Fatal(err)
		}
		b, err := resp.Body(limit)
		if !errors.Is(err, egress.ErrTooLarge) || int64(len(b)) != limit {
			t.Errorf("limit %d: %d bytes, %v", limit, len(b), err)
		}
		if strings.Contains(string(b), key[:2]) {
			t.Errorf("limit %d: %s", limit, b)
		}
	}
	r := everywhereAt(server.URL)
	r.Headers = append(r.Headers, abi.Header{Name: "X-Cut", Value: "1"})
	resp, err := c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL, Secrets: secrets()}, r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := resp.Body(1 << 20)
	wantError(t, err, abi.FailureTruncated, "cut off")
	wantClean(t, "cut body", string(b))
	if len(b) < 50 {
		t.Errorf("body %q", b)
	}
}

// C138: the texts of errors, and of all that they wrap, hold no secret, however
// the connection breaks.
func TestErrorsAreRedacted(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"closed":            "",
		"no HTTP":           "garbage " + key + "\r\n\r\n",
		"malformed status":  "HTTP/1.1 " + key + " x\r\n\r\n",
		"malformed header":  "HTTP/1.1 200 OK\r\n" + key + "\r\n\r\n",
		"malformed length":  "HTTP/1.1 200 OK\r\nContent-Length: " + key + "\r\n\r\n",
		"malformed chunk":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + key + "\r\n",
		"unknown transfer":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + key + "\r\n\r\n",
		"unknown encoding":  "HTTP/1.1 200 OK\r\nContent-Encoding: " + key + "\r\nContent-Length: 1\r\n\r\nx",
		"cut":               "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + key,
		"redirect":          "HTTP/1.1 307 X\r\nLocation: http://evil.example/" + key + "\r\nContent-Length: 0\r\n\r\n",
		"redirect to a key": "HTTP/1.1 307 X\r\nLocation: http://" + key + ".example/\r\nContent-Length: 0\r\n\r\n",
		"endless head":      "HTTP/1.1 200 OK\r\nX: " + strings.Repeat(key, 20_000),
	} {
		base := raw(t, func(conn net.Conn) { _, _ = io.WriteString(conn, answer) })
		c := egress.New(egress.Options{})
		resp, err := c.Send(t.Context(), egress.Endpoint{BaseURL: base, Secrets: secrets()}, everywhereAt(base))
		if err == nil {
			_, err = resp.Body(1 << 20)
		}
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		var e *egress.Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, "/bot{{secret:token}}/send") && !strings.Contains(name, "redirect") || strings.Contains(e.Msg, "?") {
			t.Errorf("%s: error %v does not say where", name, err)
		}
		for ; err != nil; err = errors.Unwrap(err) {
			wantClean(t, name, err.Error(), fmt.Sprintf("%+v", err))
		}
		c.Close()
	}
}
