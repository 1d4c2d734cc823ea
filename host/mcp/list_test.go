package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/mcp"
	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/host/tool"
)

func nothing(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return say("") }

// A tool has the effect write, unless its server says that it only reads and
// the operator trusts the server.
func TestEffect(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for name, test := range map[string]struct {
		annotations *sdk.ToolAnnotations
		trusted     abi.Effect
	}{
		"none":            {nil, abi.EffectWrite},
		"empty":           {&sdk.ToolAnnotations{}, abi.EffectWrite},
		"read only":       {&sdk.ToolAnnotations{ReadOnlyHint: true}, abi.EffectRead},
		"read, destroys":  {&sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &yes}, abi.EffectRead}, // has no meaning then
		"not destructive": {&sdk.ToolAnnotations{DestructiveHint: &no}, abi.EffectWrite},
		"idempotent":      {&sdk.ToolAnnotations{IdempotentHint: true, OpenWorldHint: &no}, abi.EffectWrite},
	} {
		for trust, want := range map[bool]abi.Effect{true: test.trusted, false: abi.EffectWrite} {
			t.Run(fmt.Sprint(name, " trust ", trust), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					server := newServer(nil)
					server.AddTool(&sdk.Tool{Name: "x", InputSchema: map[string]any{"type": "object"}, Annotations: test.annotations}, nothing)
					s := mcp.StartPiped(t.Context(), mcp.Config{Name: "files", Trust: trust}, piped(t.Context(), server))
					defer s.Close()
					if got := pick(t, s, "x").Spec().Effect; got != want {
						t.Errorf("effect %s, want %s", got, want)
					}
				})
			})
		}
	}
}

// Names are valid for models and unique, and the same at every start.
func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long", 30)
	listed := []string{"a.b", "a_b", "a/b", "read_file", "ünder", "", long + "1", long + "2", "x-y", "a b"}
	var all []*sdk.Tool
	for _, name := range listed {
		all = append(all, &sdk.Tool{Name: name})
	}
	got := mcp.ExposedNames("my-files", all)
	want := []string{
		"my-files__a_b_2e7336dc", "my-files__a_b", "my-files__a_b_c14cddc0", "my-files__read_file", "my-files___nder", "my-files__",
		"", "", "my-files__x-y", "my-files__a_b_c8687a08",
	}
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	seen := map[string]bool{}
	for i, name := range got {
		if want[i] != "" && name != want[i] {
			t.Errorf("%q is %q, want %q", listed[i], name, want[i])
		}
		if !valid.MatchString(name) || seen[name] {
			t.Errorf("%q is %q", listed[i], name)
		}
		seen[name] = true
	}
}

// listed starts a server that lists what it is given, page by page, and
// returns the tools and what was left out.
func listed(t *testing.T, c mcp.Config, pages ...string) (*mcp.Server, []tool.Tool, []string) {
	t.Helper()
	s := mcp.StartPiped(t.Context(), c, func() (io.ReadCloser, io.WriteCloser, error) {
		in, theirOut := io.Pipe()
		theirIn, out := io.Pipe()
		go scripted(theirIn, theirOut, pages)
		return in, out, nil
	})
	list, err := s.Tools(t.Context())
	if err != nil {
		t.Error(err)
	}
	return s, list, s.Status().LeftOut
}

// scripted is a server that lists pages of tools, each the text of an array.
// The cursor of a page is its number.
func scripted(in io.Reader, out io.WriteCloser, pages []string) {
	defer out.Close()
	d := json.NewDecoder(in)
	for {
		var r struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Cursor string `json:"cursor"`
			} `json:"params"`
		}
		if d.Decode(&r) != nil {
			return
		}
		var result string
		switch r.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
		case "tools/list":
			at, next := 0, ""
			_, _ = fmt.Sscan(r.Params.Cursor, &at)
			if at+1 < len(pages) {
				next = fmt.Sprint(at + 1)
			}
			if pages[at] == "again" {
				result = `{"tools":[],"nextCursor":"0"}`
				break
			}
			result = fmt.Sprintf(`{"tools":%s,"nextCursor":%q}`, pages[at], next)
		default:
			continue
		}
		result = strings.ReplaceAll(result, "\n", " ") // a message is a line
		if _, err := fmt.Fprintf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", r.ID, result); err != nil {
			return
		}
	}
}

func toolsNamed(from, to int) string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// A list is read page by page, within bounds; what is not used is said.
func TestListBounds(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", mcp.MaxSchema)
	many := make([]string, 100)
	for i := range many {
		many[i] = toolsNamed(i, i+1)
	}
	var big []string
	for i := range 80 {
		big = append(big, fmt.Sprintf(`{"name":"b%d","description":%q,"inputSchema":{"type":"object","description":%q}}`, i, huge[:mcp.MaxDescription*2], huge[:8<<10]))
	}
	for name, test := range map[string]struct {
		pages   []string
		tools   int
		leftOut string // a part of each thing that is left out, joined
	}{
		"one page":       {[]string{toolsNamed(0, 3)}, 3, ""},
		"three pages":    {[]string{toolsNamed(0, 3), "[]", toolsNamed(3, 5)}, 5, ""},
		"listed twice":   {[]string{toolsNamed(0, 3), toolsNamed(2, 5)}, 5, "t2: it is listed twice"},
		"no tools":       {[]string{"[]"}, 0, ""},
		"too many":       {[]string{toolsNamed(0, 100), toolsNamed(100, 200)}, 128, "t128 and what follows: there are more than 128 tools"},
		"too many pages": {many, 64, "what follows: the list has more than 64 pages"},
		"too long":       {[]string{"[" + strings.Join(big, ",") + "]"}, 42, "b42 and 37 more: all descriptions together are longer than 512 KiB"},
		"long schema":    {[]string{`[{"name":"a","inputSchema":{"type":"object","description":"` + huge + `"}},{"name":"b","inputSchema":{"type":"object"}}]`}, 1, "a: its input schema is longer than 64 KiB"},
		"bad schema":     {[]string{`[{"name":"a","inputSchema":{"type":"array"}},{"name":"b","inputSchema":[]},{"name":"c","inputSchema":{"type":"object","$ref":"https://x.example/y"}},{"name":"d"}]`}, 1, "a: its input schema is none|b: its input schema is not an object|c: its input schema is none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, list, leftOut := listed(t, mcp.Config{Name: "files"}, test.pages...)
				defer s.Close()
				if len(list) != test.tools {
					t.Errorf("%d tools, want %d", len(list), test.tools)
				}
				var want []string
				if test.leftOut != "" {
					want = strings.Split(test.leftOut, "|")
				}
				if len(leftOut) != len(want) {
					t.Fatalf("left out: %q", leftOut)
				}
				for i := range want {
					if !strings.HasPrefix(leftOut[i], want[i]) {
						t.Errorf("left out: %q, want %q", leftOut[i], want[i])
					}
				}
				if _, err := tool.NewSet(list); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A list that leads in a circle is no list.
func TestListInCircle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mcp.StartPiped(t.Context(), mcp.Config{Name: "files"}, func() (io.ReadCloser, io.WriteCloser, error) {
			in, theirOut := io.Pipe()
			theirIn, out := io.Pipe()
			go scripted(theirIn, theirOut, []string{"again"})
			return in, out, nil
		})
		defer s.Close()
		_, err := s.Tools(t.Context())
		wantError(t, err, tool.Unavailable, "its pages lead back to one that was read")
	})
}

// A schema that Go cannot check in all of its parts is checked in the others,
// and what a tool says of itself is bounded and free of secrets.
func TestSpec(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := mcp.Config{Name: "files", Env: map[string]mcp.Value{"K": {Secret: secret.New("secret-1234567")}}}
		s, list, _ := listed(t, c, `[
			{"name":"look","description":"key secret-1234567\u0007 here\nnext","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",
			 "properties":{"pattern":{"type":"string","pattern":"^(?!x)"},"n":{"type":"integer"}},"required":["pattern"]}},
			{"name":"title","title":"A title","inputSchema":{}},
			{"name":"long","description":"`+strings.Repeat("ü", mcp.MaxDescription)+`","inputSchema":{"type":"object"}}]`)
		defer s.Close()
		set, err := tool.NewSet(list)
		if err != nil {
			t.Fatal(err)
		}
		specs := set.Tools()
		got := specs[0].Spec()
		want := tool.Spec{
			Name: "files__look", Description: "key [redacted] here\nnext", Effect: abi.EffectWrite, Timeout: tool.DefaultTimeout, Source: "mcp files",
			InputSchema: abi.Raw(`{"properties":{"n":{"type":"integer"},"pattern":{"type":"string"}},"required":["pattern"],"type":"object"}`),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if err := set.Check("files__look", `{"pattern":"x","n":1}`); err != nil {
			t.Error(err)
		}
		if err := set.Check("files__look", `{"n":"1"}`); err == nil {
			t.Error("wrong arguments pass")
		}
		if got := specs[1].Spec(); got.Description != "A title" || string(got.InputSchema) != `{"type":"object"}` {
			t.Errorf("spec %+v", got)
		}
		if got := specs[2].Spec().Description; len(got) > mcp.MaxDescription+3 || !strings.HasSuffix(got, "ü…") {
			t.Errorf("%d bytes of description", len(got))
		}
	})
}

// The result of a tool is text: what is none becomes a note.
func TestResult(t *testing.T) {
	t.Parallel()
	size := int64(5)
	for name, test := range map[string]struct {
		result sdk.CallToolResult
		want   string
	}{
		"text":           {sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "a\nb"}, &sdk.TextContent{Text: "c"}}}, "a\nb\nc"},
		"error":          {sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "no such file"}}}, "!no such file"},
		"nothing":        {sdk.CallToolResult{Content: []sdk.Content{}}, "[no output]"},
		"empty text":     {sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{}}}, "[no output]"},
		"structured":     {sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: map[string]any{"b": 1, "a": []int{2}}}, `{"a":[2],"b":1}`},
		"both":           {sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "one"}}, StructuredContent: map[string]any{"n": 1}}, "one"},
		"image":          {sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "see"}, &sdk.ImageContent{Data: []byte("12345"), MIMEType: "image/png"}}}, "see\n[image, image/png, 5 bytes; it is not shown]"},
		"image and data": {sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{Data: []byte("1")}}, StructuredContent: map[string]any{"n": 1}}, "[image, 1 bytes; it is not shown]\n{\"n\":1}"},
		"audio":          {sdk.CallToolResult{Content: []sdk.Content{&sdk.AudioContent{Data: []byte("1"), MIMEType: "audio/wav"}}}, "[audio, audio/wav, 1 bytes; it is not shown]"},
		"link":           {sdk.CallToolResult{Content: []sdk.Content{&sdk.ResourceLink{URI: "file:///x", Name: "x\ny", MIMEType: "text/plain", Size: &size}}}, "[resource file:///x, x y, text/plain; it is not shown]"},
		"resource text":  {sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///x", Text: "words"}}}}, "[resource file:///x]\nwords"},
		"resource blob":  {sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///x", Blob: []byte("123"), MIMEType: "a/b"}}}}, "[resource file:///x, a/b, 3 bytes; it is not shown]"},
		"long":           {sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("x", mcp.MaxResult+9)}}}, strings.Repeat("x", mcp.MaxResult) + "…\n[cut: 1048576 of 1048585 bytes are shown]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := newServer(nil)
				add(server, "x", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return &test.result, nil })
				s := mcp.StartPiped(t.Context(), mcp.Config{Name: "files"}, piped(t.Context(), server))
				defer s.Close()
				if diff := cmp.Diff(test.want, call(t, s, "x", "{}")); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}
