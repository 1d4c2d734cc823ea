package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files") //nolint:gochecknoglobals // a flag

// TestDialects compares what each server's stream means with the file
// beside it.
func TestDialects(t *testing.T) {
	t.Parallel()
	streams, err := filepath.Glob("testdata/*.ndjson")
	if err != nil || len(streams) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	for _, path := range streams {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			stream, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := decode(t, frames(string(stream))) + "\n"
			golden := strings.TrimSuffix(path, ".ndjson") + ".events"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
