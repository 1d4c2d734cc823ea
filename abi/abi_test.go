package abi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

func TestOutline(t *testing.T) {
	t.Parallel()
	part := func(types ...abi.PartType) (parts []abi.Part) {
		for _, p := range types {
			parts = append(parts, abi.Part{Type: p})
		}
		return parts
	}
	o := abi.OutlineOf([]abi.Message{
		{Role: abi.RoleUser, Parts: part(abi.PartText)},
		{Role: abi.RoleAssistant, Parts: part(abi.PartReasoning, abi.PartText, abi.PartToolCall)},
		{Role: abi.RoleTool, Parts: part(abi.PartToolResult, abi.PartToolResult)},
		{Role: "later", Parts: part("later")},
	})
	if o != "uT aRTC tEE ??" || o.Len() != 4 || abi.OutlineOf(nil).Len() != 0 {
		t.Errorf("outline %q of %d", o, o.Len())
	}
}

// CST-2: what was known is kept, and unknown is not zero.
func TestUsageMerge(t *testing.T) {
	t.Parallel()
	n := func(i int64) *int64 { return &i }
	u := abi.Usage{Input: n(31), Output: n(20), CacheRead: n(7)}
	u.Merge(abi.Usage{Output: n(45), Reasoning: n(0)})
	want := abi.Usage{Input: n(31), Output: n(45), CacheRead: n(7), Reasoning: n(0)}
	if diff := cmp.Diff(want, u); diff != "" {
		t.Error(diff)
	}
}

// REL-4: these and no others are output.
func TestVisible(t *testing.T) {
	t.Parallel()
	for typ, want := range map[abi.EventType]bool{
		abi.EventMeta: false, abi.EventText: true, abi.EventReasoning: true, abi.EventToolCall: false, abi.EventProviderTool: true,
		abi.EventUsage: false, abi.EventFinish: false, abi.EventDone: false, abi.EventFailure: false,
	} {
		if typ.Visible("x") != want {
			t.Errorf("%s visible = %v", typ, !want)
		}
	}
}

// A signature alone shows nothing.
func TestVisibleNeedsText(t *testing.T) {
	t.Parallel()
	for typ, want := range map[abi.EventType]bool{abi.EventText: false, abi.EventReasoning: false, abi.EventProviderTool: true} {
		if typ.Visible("") != want {
			t.Errorf("%s without text: visible = %v", typ, !want)
		}
	}
}

func TestHeader(t *testing.T) {
	t.Parallel()
	r := abi.HTTPResponse{Headers: []abi.Header{{Name: "retry-after", Value: "3"}, {Name: "retry-after", Value: "4"}}}
	if r.Header("retry-after") != "3" || r.Header("date") != "" {
		t.Error("wrong header")
	}
}
