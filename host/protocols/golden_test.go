package protocols

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files") //nolint:gochecknoglobals // a flag

// goldenReplies are the replies whose bytes are kept in testdata. `make e2e`
// has the vendors' own SDKs read them, so that the wires here do not depend on
// one reading of the protocols.
func goldenReplies(w wire) map[string]reply {
	all := map[string]reply{
		"text":     say("Hel|lo 漢字|🚲"),
		"length":   {pieces: []piece{{text: "Hel|lo"}}, finish: length, in: 7, out: 3},
		"thinking": {pieces: []piece{{kind: thinking, text: "the user| greets me", signature: "S1"}, {text: "Hel|lo"}}, in: 7, out: 3},
		"calls": {pieces: []piece{
			{text: "I look."}, called("call_1", "up", `{"x":1}`), called("call_2", "down", `{"y":{"z":["a","b"]}}`),
		}, finish: calls, in: 7, out: 3},
	}
	if s, ok := signedBy()[w.plugin()]; ok {
		all["opaque"] = reply{pieces: s.pieces, in: 7, out: 3}
	}
	return all
}

// golden is a reply as testdata holds it: its bytes in both forms, and what
// whoever reads them should find.
type golden struct {
	Stream   string       `json:"stream"`
	Whole    string       `json:"whole"`
	Text     string       `json:"text"`
	Thinking string       `json:"thinking"`
	Calls    []goldenCall `json:"calls"`
	Finish   string       `json:"finish"`
	In       int          `json:"in"`
	Out      int          `json:"out"`
}

type goldenCall struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

func goldenOf(w wire, r reply) golden {
	g := golden{
		Stream: w.streamed(r).all(), Whole: w.whole(r), Calls: []goldenCall{}, In: r.in, Out: r.out,
		Finish: map[finish]string{stop: "stop", calls: "calls", length: "length"}[r.finish],
	}
	for _, p := range r.pieces {
		switch p.kind {
		case text:
			g.Text += p.joined()
		case thinking:
			g.Thinking += p.joined()
		case call:
			g.Calls = append(g.Calls, goldenCall{Name: p.name, Args: json.RawMessage(p.args)})
		case secret, server:
		}
	}
	return g
}

// The bytes of the wires are those that the vendors' SDKs have read.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		all := map[string]golden{}
		for name, r := range goldenReplies(w) {
			all[name] = goldenOf(w, r)
		}
		got, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		path := filepath.Join("testdata", w.plugin()+".json")
		if *update {
			if err := os.WriteFile(path, got, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s differs; -update writes it, and then make e2e:\n%s", path, d)
		}
	}
}
