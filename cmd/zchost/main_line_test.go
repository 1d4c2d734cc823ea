package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/host/terminal"
)

func TestJoinMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want []string }{
		{[]string{"send", "-m", "- item", "--json"}, []string{"send", "--message=- item", "--json"}},
		{[]string{"send", "--message", "-m", "-"}, []string{"send", "--message=-m", "-"}},
		{[]string{"send", "-m"}, []string{"send", "-m"}},
		{[]string{"send", "--", "-m", "x"}, []string{"send", "--", "-m", "x"}},
	} {
		if diff := cmp.Diff(c.want, joinMessage(c.args)); diff != "" {
			t.Errorf("%q: %s", c.args, diff)
		}
	}
}

// Text that is not UTF-8 is refused: the parser would replace a part of it.
func TestArgumentsAreUTF8(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"-m", "--session"} {
		var out bytes.Buffer
		a := &app{screen: &terminal.Screen{Out: &out, Err: &out}}
		err := a.dispatch(t.Context(), []string{"--home", t.TempDir(), "send", flag, "caf\xe9"})
		if err == nil || !strings.Contains(err.Error(), "not valid UTF-8") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}
