package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

var update = flag.Bool("update", false, "write golden files") //nolint:gochecknoglobals // a flag

// TestScripts compares what chat_request returns with files: the wire protocol
// can be read there.
func TestScripts(t *testing.T) {
	t.Parallel()
	for file, c := range map[string]struct {
		said   string
		stream bool
	}{
		"reasoning.json":        {"/demo reasoning", true},
		"reasoning-whole.json":  {"/demo reasoning", false},
		"cut.json":              {"/demo cut", true},
		"cut-whole.json":        {"/demo cut", false},
		"cut-before.json":       {"/demo cut before", true},
		"cut-before-whole.json": {"/demo cut before", false},
		"empty.json":            {"/demo empty", true},
		"silent.json":           {"/demo silent", true},
		"fail.json":             {"/demo fail", true},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			in := abi.ChatRequest{Model: "demo", Stream: c.stream, Messages: []abi.Message{
				{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: c.said}}},
			}}
			out, err := provider.Native(demo{}).Call(t.Context(), abi.ExportChatRequest, in.AppendJSON(nil))
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "testdata/"+file, out)
		})
	}
}

func golden(t *testing.T, path string, document []byte) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, document, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-update writes it):\n%s", path, diff)
	}
}
