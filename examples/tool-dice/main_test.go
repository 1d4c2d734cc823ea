package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/zchost/zchost/sdk/tool"
	"github.com/zchost/zchost/sdk/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	tooltest.Run(t, tool.Native(dice{}, nil), tooltest.Suite{Cases: []tooltest.Case{
		{Tool: "dice_odds", Arguments: `{"dice":"1d6","total":4}`, Want: tool.Text("1d6 gives at least 4 with a probability of 50.00 %.")},
		{Tool: "dice_odds", Arguments: `{"dice":"3d6","total":17}`, Want: tool.Text("3d6 gives at least 17 with a probability of 1.85 %.")},
		{Tool: "dice_odds", Arguments: `{"dice":"2d6","total":-1}`, Want: tool.Text("2d6 gives at least -1 with a probability of 100.00 %.")},
		{Tool: "dice_odds", Arguments: `{"dice":"many","total":4}`, Want: tool.Failed("Write the dice like 3d6: at most 50 dice, 2 to 100 sides.")},
	}})
}

// The guide quotes the two examples: every block of Go in it, and of TOML but for
// the host's own config, is there word for word.
func TestGuideIsCurrent(t *testing.T) {
	t.Parallel()
	read := func(files ...string) string {
		var all strings.Builder
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
		}
		return all.String()
	}
	guide := read("../../docs/adding-a-tool.md")
	for language, source := range map[string]string{
		"go":   read("main.go", "main_test.go", "../tool-weather/main.go"),
		"toml": read("plugin.toml", "../tool-weather/plugin.toml"),
	} {
		blocks := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(guide, -1)
		if len(blocks) < 2 {
			t.Errorf("the guide quotes %d blocks of %s", len(blocks), language)
		}
		for _, b := range blocks {
			if !strings.HasPrefix(b[1], "[tools.") && !strings.Contains(source, b[1]) {
				t.Errorf("not in the examples:\n%s", b[1])
			}
		}
	}
}
