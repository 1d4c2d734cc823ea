package provider_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/sdk/provider"
)

// The exchange that docs/abi.md shows is what the example plugin says.
func TestPageExchange(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	calls := regexp.MustCompile("(?s)<!-- call: (\\w+) -->\n```(\\w+)\n(.*?)```\n<!-- gives -->\n```\\w+\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(calls) != 5 {
		t.Fatalf("%d calls were found", len(calls))
	}
	for _, c := range calls {
		export, language, in, want := c[1], c[2], c[3], c[4]
		got, err := provider.Native(parrot{}).Call(t.Context(), export, wire(t, language, in))
		if err != nil {
			t.Errorf("%s: %v", export, err)
		}
		if diff := cmp.Diff(string(wire(t, language, want)), string(got)); diff != "" {
			t.Errorf("%s (-page +plugin):\n%s", export, diff)
		}
	}
}

// wire turns what the page shows into the bytes that it stands for.
func wire(t *testing.T, language, shown string) []byte {
	t.Helper()
	if language == "text" {
		return []byte(strings.NewReplacer("\n", "", `\x1e`, "\x1e", `\n`, "\n").Replace(shown))
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(shown)); err != nil {
		t.Fatalf("%v in %s", err, shown)
	}
	return b.Bytes()
}
