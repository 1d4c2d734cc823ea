package secret_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/secret"
)

func TestParseRef(t *testing.T) {
	t.Parallel()
	for in, label := range map[string]string{
		"env:OPENAI_API_KEY":            "env:OPENAI_API_KEY",
		"env:_x1":                       "env:_x1",
		"file:/run/secrets/openai":      "file:/run/secrets/openai",
		"file:~/keys/open ai":           "file:~/keys/open ai",
		"cmd:pass show openai":          "cmd:pass",
		"cmd:PASSWORD=hunter22 get-key": "cmd:…",
	} {
		ref, err := secret.ParseRef(in)
		if err != nil {
			t.Errorf("ParseRef(%q): %v", in, err)
			continue
		}
		if ref.String() != in || ref.Label() != label {
			t.Errorf("ParseRef(%q) = %q with label %q, want label %q", in, ref, ref.Label(), label)
		}
	}
}

// An inline secret is refused with how to fix it, and its text is repeated
// nowhere, not even when a scheme stands before it by mistake.
func TestParseRefRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", "sk-proj-AbC123dEf456", "sk:proj:AbC123dEf456", "AKIAIOSFODNN7EXAMPLE", "https://u:AbC123@host",
		"env:", "env: ", "env:sk-proj-AbC123dEf456", "env:sk_live_AbC123dEf456xyz", "env:1A", "env:A B", "env:Ä",
		"file:", "file:~", "file:~root/x", "file:relative/path", "file:../x", "file:/a\nb", "file:/a\x00b",
		"cmd:", "cmd:  ", "cmd:a\nb", "ENV:X", " env:X", "vault:AbC123",
	} {
		ref, err := secret.ParseRef(in)
		if err == nil {
			t.Errorf("ParseRef(%q) is accepted", in)
			continue
		}
		if !ref.IsZero() || ref.String() != "" {
			t.Errorf("ParseRef(%q) returns %q with its error", in, ref)
		}
		if fault.CodeOf(err) != fault.Config || !strings.Contains(fault.HintOf(err), "env:NAME") {
			t.Errorf("ParseRef(%q): %v (%s), hint %q", in, err, fault.CodeOf(err), fault.HintOf(err))
		}
		if text := err.Error() + fault.HintOf(err); strings.Contains(text, "AbC123") || strings.Contains(text, "AKIA") {
			t.Errorf("ParseRef(%q) repeats the secret: %s", in, text)
		}
	}
}

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"env:A", "file:/x", "file:~/x", "cmd:a b", "sk-123", ":", "env"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := secret.ParseRef(s)
		if err != nil {
			if !ref.IsZero() {
				t.Fatalf("%q: a reference with an error", s)
			}
			return
		}
		again, err := secret.ParseRef(ref.String())
		if err != nil || again != ref {
			t.Fatalf("%q reads back as %q, %v", ref, again, err)
		}
	})
}

func setup(t *testing.T, contents string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func resolve(t *testing.T, ref string) (string, error) {
	t.Helper()
	r, err := secret.ParseRef(ref)
	if err != nil {
		t.Fatalf("ParseRef(%q): %v", ref, err)
	}
	v, err := secret.Resolver{LookupEnv: func(name string) (string, bool) {
		vars := map[string]string{"KEY": key, "SPACED": " " + key + "\r\n", "EMPTY": "", "BLANK": " \n", "TWO": "a\nb", "NUL": "a\x00b"}
		v, ok := vars[name]
		return v, ok
	}}.Resolve(t.Context(), r)
	return v.Reveal(), err
}

func TestResolve(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a Unix shell")
	}
	for _, ref := range []string{
		"env:KEY", "env:SPACED",
		"file:" + setup(t, key), "file:" + setup(t, "\ufeff"+key+"\r\n\n"),
		"cmd:echo " + key, "cmd:printf '%s' " + key + " | cat",
	} {
		if got, err := resolve(t, ref); err != nil || got != key {
			t.Errorf("%s resolves to %q, %v", ref, got, err)
		}
	}
}

func TestResolveFileInHome(t *testing.T) {
	path := setup(t, key)
	t.Setenv("HOME", filepath.Dir(path))
	if got, err := resolve(t, "file:~/key"); err != nil || got != key {
		t.Errorf("resolves to %q, %v", got, err)
	}
}

func TestResolveFails(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a Unix shell")
	}
	for ref, want := range map[string]string{
		"env:GONE":                        "secret env:GONE is not set",
		"env:EMPTY":                       "is empty",
		"env:BLANK":                       "is empty",
		"env:TWO":                         "line break or control",
		"env:NUL":                         "line break or control",
		"file:/nonexistent/k":             "no such file",
		"file:" + t.TempDir():             "not a regular file",
		"file:/dev/zero":                  "not a regular file",
		"file:" + setup(t, "\n"):          "is empty",
		"file:" + setup(t, "a\nb"):        "line break",
		"file:" + setup(t, long(1)):       "more than 65536 bytes",
		"file:" + setup(t, "k\x00e"):      "control character",
		"cmd:echo " + key + " >&2; false": "secret cmd:echo failed: exit status 1",
		"cmd:true":                        "is empty",
		"cmd:/nonexistent/program x":      "failed: exit status 127",
		"cmd:head -c 1000000 /dev/zero | tr '\\0' a": "more than 65536 bytes",
	} {
		got, err := resolve(t, ref)
		if err == nil {
			t.Errorf("%s resolves to %d bytes", ref, len(got))
			continue
		}
		text := err.Error() + fault.HintOf(err)
		if !strings.Contains(text, want) || strings.Contains(text, key) {
			t.Errorf("%s: %s, want %q", ref, text, want)
		}
		if fault.CodeOf(err) != fault.Secret || fault.HintOf(err) == "" {
			t.Errorf("%s: code %s, hint %q", ref, fault.CodeOf(err), fault.HintOf(err))
		}
	}
	var none secret.Ref
	if _, err := none.Resolve(t.Context()); err == nil {
		t.Error("the zero reference resolves")
	}
}

func long(more int) string { return strings.Repeat("a", secret.MaxSize+more) }

func TestResolveLongest(t *testing.T) {
	t.Parallel()
	if got, err := resolve(t, "file:"+setup(t, long(0)+"\n")); err != nil || got != long(0) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
