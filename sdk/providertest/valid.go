package providertest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

// checkEvent: a known type, and only the fields of that type.
func checkEvent(t *testing.T, e abi.Event) {
	t.Helper()
	allowed := abi.Event{Type: e.Type}
	switch e.Type {
	case abi.EventMeta:
		allowed.ID, allowed.Model = e.ID, e.Model
	case abi.EventText:
		allowed.Text, allowed.Signature, allowed.Index = e.Text, e.Signature, e.Index
	case abi.EventReasoning:
		allowed.Text, allowed.Signature, allowed.Opaque, allowed.Index = e.Text, e.Signature, e.Opaque, e.Index
	case abi.EventToolCall:
		allowed.Index, allowed.ID, allowed.Name, allowed.Arguments, allowed.Signature = e.Index, e.ID, e.Name, e.Arguments, e.Signature
	case abi.EventProviderTool:
		allowed.ID, allowed.Name, allowed.Text, allowed.Opaque = e.ID, e.Name, e.Text, e.Opaque
	case abi.EventUsage:
		allowed.Usage = e.Usage
		checkUsage(t, e.Usage)
	case abi.EventFinish:
		allowed.Reason, allowed.Raw = e.Reason, e.Raw
		if !slices.Contains(finishReasons(), e.Reason) {
			t.Errorf("a finish has the reason %q", e.Reason)
		}
	case abi.EventDone:
	case abi.EventFailure:
		allowed.Failure = e.Failure
		if e.Failure == nil {
			t.Error("a failure event holds no failure")
			return
		}
		checkFailure(t, *e.Failure)
	default:
		t.Errorf("an event has the type %q", e.Type)
	}
	if e.Index != nil && *e.Index < 0 {
		t.Errorf("a %s has the index %d", e.Type, *e.Index)
	}
	if diff := cmp.Diff(allowed, e); diff != "" {
		t.Errorf("an event has fields that are not for its type:\n%s", diff)
	}
}

func checkUsage(t *testing.T, u *abi.Usage) {
	t.Helper()
	if u == nil {
		t.Error("a usage event holds no usage")
		return
	}
	for _, n := range []*int64{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning} {
		if n != nil && *n < 0 {
			t.Errorf("a usage of %d tokens", *n)
		}
	}
}

func checkFailure(t *testing.T, f abi.Failure) {
	t.Helper()
	if !slices.Contains(failureClasses(), f.Class) {
		t.Errorf("a failure has the class %q", f.Class)
	}
	if f.RetryAfterMS < 0 || f.Status < 0 {
		t.Errorf("a failure has the status %d and retry_after_ms %d", f.Status, f.RetryAfterMS)
	}
	if f.Message == "" {
		t.Errorf("a failure of class %s has no message", f.Class)
	}
}

func finishReasons() []abi.FinishReason {
	return []abi.FinishReason{
		abi.FinishStop, abi.FinishLength, abi.FinishToolCalls, abi.FinishContentFilter, abi.FinishRefusal, abi.FinishPause, abi.FinishUnknown,
	}
}

func failureClasses() []abi.FailureClass {
	return []abi.FailureClass{
		abi.FailureOverloaded, abi.FailureRateLimited, abi.FailureServer, abi.FailureTimeout, abi.FailureNetwork, abi.FailureTruncated,
		abi.FailureAuth, abi.FailureQuota, abi.FailureInvalidRequest, abi.FailureContextOverflow, abi.FailureContentFiltered,
		abi.FailureModelNotFound, abi.FailurePlugin, abi.FailureUnknown,
	}
}
