package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/zchost/zchost/host/secret"
)

func redactor(keys ...string) *secret.Redactor {
	r := secret.NewRedactor()
	for _, k := range keys {
		r.Add(secret.New(k))
	}
	return r
}

// hard is a secret that every way of escaping changes.
const hard = `p/w+"x\y" <é🔑>&=%?'k`

// C138: a vendor or a library echoes the secret in some spelling.
func TestRedactForms(t *testing.T) {
	t.Parallel()
	quote := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, k := range []string{key, hard, "12345678", "ключ-к-сервису"} {
		r := redactor(k)
		for name, text := range map[string]string{
			"raw":        k,
			"error":      `Post "https://api.telegram.org/bot` + k + `/sendMessage": EOF`,
			"query":      "https://x/?key=" + url.QueryEscape(k) + "&alt=sse",
			"path":       "https://x/" + url.PathEscape(k) + "/y",
			"lower hex":  regexp.MustCompile(`%..`).ReplaceAllStringFunc(url.QueryEscape(k), strings.ToLower),
			"json":       quote(map[string]string{"error": "bad key " + k}),
			"json twice": quote(quote("bad key " + k)),
			"slash":      strings.ReplaceAll(quote(k), "/", `\/`),
			"html":       "<p>" + html.EscapeString(k) + "</p>",
			"base64":     base64.StdEncoding.EncodeToString([]byte(k)),
			"base64 url": base64.RawURLEncoding.EncodeToString([]byte(k)),
			"twice":      k + k + " " + k,
		} {
			got := r.String(text)
			if !strings.Contains(got, secret.Mask) {
				t.Errorf("%s of %q stays: %s", name, k, got)
			}
			if strings.Contains(got, k) {
				t.Errorf("%s: %q is still in %s", name, k, got)
			}
			if again := string(r.Bytes([]byte(text))); again != got {
				t.Errorf("%s: Bytes gives %s, String gives %s", name, again, got)
			}
		}
	}
}

// Basic authentication puts the secret anywhere into a base64 text.
func TestRedactWithinBase64(t *testing.T) {
	t.Parallel()
	r := redactor(key)
	for before := range 6 {
		for after := range 4 {
			text := strings.Repeat("u", before) + key + strings.Repeat("z", after)
			for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				got := r.String("Basic " + enc.EncodeToString([]byte(text)))
				kept := len(strings.ReplaceAll(strings.TrimPrefix(got, "Basic "), secret.Mask, ""))
				// Six bits a character; those that hold a bit of another byte stay.
				alone := (before+len(key))*8/6 - (before*8+5)/6
				if want := enc.EncodedLen(len(text)) - alone; !strings.Contains(got, secret.Mask) || kept > want {
					t.Errorf("%d before, %d after: %s", before, after, got)
				}
			}
		}
	}
}

func TestRedactKeepsJSONValid(t *testing.T) {
	t.Parallel()
	r := redactor(key, hard)
	text, err := json.Marshal(map[string]string{"a": "x" + hard + "y", "b": key})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Bytes(text); !json.Valid(got) || bytes.Contains(got, []byte(key)) {
		t.Errorf("got %s", got)
	}
}

// Overlapping secrets leave nothing between them, and one within another does
// not save the rest of it.
func TestRedactOverlap(t *testing.T) {
	t.Parallel()
	r := redactor("abcdefgh", "efghijkl", "abcdefghijklmnop")
	for text, want := range map[string]string{
		"-abcdefghijkl-":     "-[redacted]-",
		"-abcdefghijklmnop-": "-[redacted]-",
		"abcdefghabcdefgh":   "[redacted][redacted]",
		"abcdefg":            "abcdefg",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%s gives %s, want %s", text, got, want)
		}
	}
}

func TestRedactNothing(t *testing.T) {
	t.Parallel()
	text := []byte("nothing to see, sk-live is no key")
	for _, r := range []*secret.Redactor{nil, redactor(), redactor(key), redactor("1234567")} {
		got := r.Bytes(text)
		if &got[0] != &text[0] || len(got) != len(text) {
			t.Error("a text without secrets is copied")
		}
		if got := r.String("1234567"); got != "1234567" {
			t.Errorf("a secret that is too short is replaced: %s", got)
		}
	}
}

//nolint:paralleltest // AllocsPerRun counts those of others too
func TestRedactNothingAllocates(t *testing.T) {
	r := redactor(key)
	text := strings.Repeat("nothing to see ", 20)
	if n := testing.AllocsPerRun(100, func() { _ = r.String(text) }); n > 0 {
		t.Errorf("%v allocations for a string without secrets", n)
	}
}

// Whatever surrounds a secret, and wherever it lies, it is found: the fast look
// misses none.
func TestRedactFindsEverywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.StringMatching(`[a-zA-Z0-9_\-]{8,40}`), 1, 5).Draw(t, "keys")
		r := redactor(keys...)
		k := rapid.SampledFrom(keys).Draw(t, "key")
		text := rapid.String().Draw(t, "before") + k + rapid.String().Draw(t, "after")
		if got := r.String(text); strings.Contains(got, k) {
			t.Fatalf("%q is in %q", k, got)
		}
	})
}

// A text that was cut off may end in half a secret.
func TestRedactCut(t *testing.T) {
	t.Parallel()
	r := redactor(key)
	for n := range len(key) + 1 {
		got := string(r.Cut([]byte("key " + key[:n])))
		want := "key " + key[:n]
		if n >= secret.MinRedacted {
			want = "key " + secret.Mask
		}
		if got != want {
			t.Errorf("cut after %d bytes: %q, want %q", n, got, want)
		}
	}
}

func TestRedactorIsConcurrent(t *testing.T) {
	t.Parallel()
	r := redactor()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			k := strings.Repeat(string(rune('a'+i)), 12)
			r.Add(secret.New(k))
			for range 100 {
				if got := r.String("x" + k); got != "x"+secret.Mask {
					t.Errorf("%s stays", got)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkRedactNothing(b *testing.B) {
	text := []byte(`{"id":"chatcmpl-9xYz","object":"chat.completion.chunk","created":1700000000,"model":"gpt","choices":[{"index":0,"delta":{"content":" hello"},"finish_reason":null}]}`)
	for name, keys := range map[string]int{"1 key": 1, "20 keys": 20} {
		b.Run(name, func(b *testing.B) {
			r := redactor()
			for i := range keys {
				r.Add(secret.New(key + strings.Repeat("x", i)))
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Bytes(text)
			}
		})
	}
}
