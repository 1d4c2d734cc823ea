package tooltest_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/tool"
	"github.com/zchost/zchost/sdk/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a plugin with one mistake, or none.
type fake struct {
	fault string
	calls *int
}

func (f fake) Tools(abi.Raw) ([]abi.ToolSpec, error) {
	*f.calls++
	spec := abi.ToolSpec{Name: "up", Description: "Makes text upper case.", InputSchema: abi.Raw(`{"type":"object","properties":{"text":{"type":"string"}}}`), Effect: abi.EffectNone}
	switch f.fault {
	case "no tools":
		return nil, nil
	case "name":
		spec.Name = "up case"
	case "description":
		spec.Description = ""
	case "effect":
		spec.Effect = "delete"
	case "schema":
		spec.InputSchema = abi.Raw(`{"type":"array"}`)
	case "twice":
		return []abi.ToolSpec{spec, spec}, nil
	case "changes":
		spec.Description += strings.Repeat("!", *f.calls)
	case "untested":
		other := spec
		other.Name = "down"
		return []abi.ToolSpec{spec, other}, nil
	case "list fails":
		return nil, errors.New("no list")
	}
	return []abi.ToolSpec{spec}, nil
}

func (f fake) Call(c *tool.Call) (abi.ToolResult, error) {
	*f.calls++
	switch f.fault {
	case "wrong":
		return tool.Text("hello"), nil
	case "remembers":
		if *f.calls > 3 {
			return tool.Text("HELLO AGAIN"), nil
		}
	case "empty":
		return tool.Text(""), nil
	case "error flag":
		return tool.Failed("HELLO"), nil
	case "fails":
		return abi.ToolResult{}, errors.New("broken")
	}
	return tool.Text("HELLO"), nil
}

func suite(fault string) tooltest.Suite {
	arguments := `{"text":"hello"}`
	if fault == "arguments" {
		arguments = `{"text":3}`
	}
	return tooltest.Suite{Cases: []tooltest.Case{{Tool: "up", Arguments: arguments, Want: tool.Text("HELLO")}}}
}

func TestRun(t *testing.T) {
	t.Parallel()
	tooltest.Run(t, tool.Native(fake{calls: new(int)}, nil), suite(""))
}

// faultVariable names the mistake of the plugin that TestFaulty is run with.
const faultVariable = "TOOLTEST_FAULT"

// TestFaulty fails for every mistake; TestFaults runs it in a process of its own.
func TestFaulty(t *testing.T) {
	t.Parallel()
	fault := os.Getenv(faultVariable)
	if fault == "" {
		t.Skip("run by TestFaults")
	}
	tooltest.Run(t, tool.Native(fake{fault, new(int)}, nil), suite(fault))
}

// Each mistake is found by the check that is meant for it.
func TestFaults(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{
		"no tools":    "there are 0; possible are 1 to 128",
		"name":        `the name "up case" has other characters`,
		"description": "a model chooses by it",
		"effect":      `the effect is "delete"`,
		"schema":      `the type is "array" and not object`,
		"twice":       "two tools named up",
		"changes":     "gives something else the second time",
		"untested":    "no case calls down",
		"list fails":  "tools: no list",
		"wrong":       "(-want +got)",
		"remembers":   "HELLO AGAIN",
		"empty":       "it has to be text, and some",
		"error flag":  "(-want +got)",
		"fails":       "broken",
		"arguments":   "the host would refuse these arguments",
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFaulty$")
		cmd.Env = append(os.Environ(), faultVariable+"="+fault)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want it to say %q:\n%s", fault, err, want, out)
		}
	}
}
