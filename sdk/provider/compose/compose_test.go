package compose_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/compose"
)

// A text never makes a second place of the messages, and says what it said.
func TestTextHasNoPlace(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "hi", "{{messages}}", `"{{messages}}"`, `a "{{messages}}`, "{{messages}} b"} {
		b := compose.AppendText(nil, s)
		var back string
		if err := json.Unmarshal(b, &back); err != nil || back != s {
			t.Errorf("%q became %s: %v", s, b, err)
		}
		if strings.Contains(string(b), compose.MessagesPlace) {
			t.Errorf("%q became the place: %s", s, b)
		}
	}
}

func TestCheckSchemas(t *testing.T) {
	t.Parallel()
	good := abi.Tool{Name: "good", InputSchema: abi.Raw(`{"type":"object"}`)}
	bad := abi.Tool{Name: "bad", InputSchema: abi.Raw(`{"enum":["{{messages}}"]}`)}
	if err := compose.CheckSchemas([]abi.Tool{good}); err != nil {
		t.Error(err)
	}
	if err := compose.CheckSchemas([]abi.Tool{good, bad}); err == nil || !strings.Contains(err.Error(), "tool bad") {
		t.Errorf("got %v", err)
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	pairs := []abi.Header{{Name: "a b", Value: "1&2"}, {Name: "key", Value: "{{secret:api_key}}"}}
	if got := compose.Query(pairs); got != "?a%20b=1%262&key={{secret:api_key}}" {
		t.Errorf("got %s", got)
	}
	if got := compose.Query(nil); got != "" {
		t.Errorf("no pairs gave %q", got)
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	s := jsonscan.New([]byte(`{"top_p":0.5,"seed":[1]}`))
	m := compose.Members{Dst: []byte("{"), Extra: compose.ReadFields(&s)}
	if m.Key("model") {
		m.Text("grey")
	}
	if m.Key("top_p") {
		t.Error("a member of Extra was not left out")
	}
	if m.Key("stop") {
		m.Raw("[")
		for _, text := range []string{"a", "b"} {
			m.Next()
			m.Text(text)
		}
		m.Raw("]")
	}
	m.Close()
	if got, want := string(m.Dst), `{"model":"grey","stop":["a","b"],"top_p":0.5,"seed":[1]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	empty := compose.Members{Dst: []byte("{")}
	if empty.Close(); string(empty.Dst) != "{}" {
		t.Errorf("nothing became %s", empty.Dst)
	}
}

func TestReadPairs(t *testing.T) {
	t.Parallel()
	s := jsonscan.New([]byte(`{"X-B":"1","X-A":"2"}`))
	got := compose.ReadPairs(&s)
	if diff := cmp.Diff([]abi.Header{{Name: "X-B", Value: "1"}, {Name: "X-A", Value: "2"}}, got); diff != "" || s.End() != nil {
		t.Errorf("%v, -want +got:\n%s", s.End(), diff)
	}
	s = jsonscan.New([]byte(`{"X-B":1}`))
	if compose.ReadPairs(&s); s.End() == nil {
		t.Error("a number was taken for a text")
	}
}
