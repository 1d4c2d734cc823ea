package reliability

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// collector joins the events of one answer into its parts.
type collector struct {
	parts  []*part
	calls  []*call
	usage  abi.Usage
	known  bool // usage was reported
	finish abi.FinishReason
	raw    string
	done   bool
	served string
	id     string
}

// part is a part whose text is still arriving.
type part struct {
	typ       abi.PartType
	index     *int64
	text      strings.Builder
	signature string
	opaque    string
	id, name  string // of a provider's own tool
	call      *call  // of a tool call
}

// call is a tool call whose arguments are still arriving.
type call struct {
	index     *int64
	id        string
	name      string
	signature string
	args      strings.Builder
}

// add takes the next event. It returns the failure that the event reports, or
// that it exceeds a limit.
func (c *collector) add(e *abi.Event) *abi.Failure {
	switch e.Type {
	case abi.EventMeta:
		c.served, c.id = or(e.Model, c.served), or(e.ID, c.id)
	case abi.EventText:
		c.join(abi.PartText, e)
	case abi.EventReasoning:
		c.join(abi.PartReasoning, e)
	case abi.EventToolCall:
		return c.toolCall(e)
	case abi.EventUsage:
		if e.Usage != nil && plausible(*e.Usage) {
			c.usage.Merge(*e.Usage)
			c.known = true
		}
	case abi.EventFinish:
		if c.finish == "" { // a second one is an echo of some gateway's (C146)
			c.finish, c.raw = e.Reason, e.Raw
		}
	case abi.EventDone:
		c.done = true
	case abi.EventFailure:
		if e.Failure == nil {
			return &abi.Failure{Class: abi.FailureUnknown, Message: "the provider reported a failure without saying which"}
		}
		return e.Failure
	case abi.EventProviderTool:
		c.providerTool(e)
	}
	return nil
}

// plausible reports whether no count is negative or beyond anything that a
// model can do: such usage is as good as none, and would spoil every sum.
func plausible(u abi.Usage) bool {
	const most = 1 << 40
	for _, n := range []*int64{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning} {
		if n != nil && (*n < 0 || *n > most) {
			return false
		}
	}
	return true
}

// join appends to the last part if it is of the same type and place, and
// nothing has ended it.
func (c *collector) join(t abi.PartType, e *abi.Event) {
	if e.Text == "" && e.Signature == "" && e.Opaque == "" {
		return
	}
	p := c.last()
	if p == nil || p.typ != t || p.signature != "" || p.opaque != "" || !samePlace(e.Index, p.index) {
		p = &part{typ: t, index: e.Index}
		c.parts = append(c.parts, p)
	}
	p.text.WriteString(e.Text)
	p.signature, p.opaque = e.Signature, e.Opaque
}

// providerTool adds what the provider itself executed. Events with the id of
// the one before tell more of the same.
func (c *collector) providerTool(e *abi.Event) {
	p := c.last()
	if p == nil || p.typ != abi.PartProviderTool || e.ID == "" || p.id != e.ID || p.opaque != "" {
		p = &part{typ: abi.PartProviderTool, id: e.ID}
		c.parts = append(c.parts, p)
	}
	p.text.WriteString(e.Text)
	p.name, p.opaque = or(e.Name, p.name), or(e.Opaque, p.opaque)
}

func (c *collector) last() *part {
	if len(c.parts) == 0 {
		return nil
	}
	return c.parts[len(c.parts)-1]
}

func samePlace(a, b *int64) bool {
	return (a == nil && b == nil) || (a != nil && b != nil && *a == *b)
}

// toolCall joins a fragment to the call it belongs to, or opens a new one
// (STR-6).
func (c *collector) toolCall(e *abi.Event) *abi.Failure {
	k := c.find(e)
	if k == nil {
		if len(c.calls) == abi.MaxToolCalls {
			return &abi.Failure{Class: abi.FailureServer, Message: fmt.Sprintf("more than %d tool calls in one answer", abi.MaxToolCalls)}
		}
		k = &call{index: e.Index}
		c.calls = append(c.calls, k)
		c.parts = append(c.parts, &part{typ: abi.PartToolCall, call: k})
	} else if k.repeated(e) {
		return nil
	}
	k.id, k.name, k.signature = or(k.id, e.ID), or(e.Name, k.name), or(k.signature, e.Signature)
	if k.args.Len()+len(e.Arguments) > abi.MaxToolArguments {
		return &abi.Failure{Class: abi.FailureServer, Message: fmt.Sprintf("the arguments of tool %q are over %d bytes", k.name, abi.MaxToolArguments)}
	}
	k.args.WriteString(e.Arguments)
	return nil
}

// find returns the call that a fragment continues, or nil if it opens one.
// Servers leave out the index, leave out the id, keep either constant or let
// it drift, so neither alone decides: an id that is known wins, then an index
// that is known, then the call opened last; and a fragment that names a tool
// opens a new call when the one it would continue is another's or is whole.
func (c *collector) find(e *abi.Event) *call {
	k := c.match(e)
	if k == nil || e.Name == "" {
		return k
	}
	if e.ID != "" && k.id != "" && e.ID != k.id {
		return nil
	}
	if e.Arguments != "" && k.whole() && !k.repeated(e) {
		return nil
	}
	if e.Name != k.name && k.name != "" {
		return nil
	}
	return k
}

// match returns the latest call that has the fragment's id or index, or, for a
// fragment without either, the call opened last.
func (c *collector) match(e *abi.Event) *call {
	var byIndex *call
	for i := len(c.calls) - 1; i >= 0; i-- {
		k := c.calls[i]
		if e.ID != "" && e.ID == k.id && (e.Name == "" || sameIndex(e.Index, k.index)) {
			return k
		}
		if byIndex == nil && e.Index != nil && k.index != nil && *e.Index == *k.index {
			byIndex = k
		}
	}
	if byIndex != nil || len(c.calls) == 0 {
		return byIndex
	}
	if e.Name == "" || (e.Index == nil && e.ID == "") {
		return c.calls[len(c.calls)-1]
	}
	return nil
}

func sameIndex(a, b *int64) bool { return a == nil || b == nil || *a == *b }

// whole reports whether the arguments are a complete JSON value.
func (k *call) whole() bool {
	args := k.args.String()
	return strings.HasSuffix(strings.TrimSpace(args), "}") && json.Valid([]byte(args))
}

// repeated reports whether a fragment gives the whole call once more, as some
// servers do at the end.
func (k *call) repeated(e *abi.Event) bool {
	return e.ID != "" && e.ID == k.id && e.Name == k.name && e.Arguments == k.args.String() && k.whole()
}

// result returns the parts, each call with its joined arguments and an id of
// the host's own (C026), and the ids of the calls that are broken.
func (c *collector) result(callID func(n int) string) (parts []abi.Part, broken []string) {
	n := 0
	for _, p := range c.parts {
		if p.call == nil {
			parts = append(parts, abi.Part{Type: p.typ, Name: p.name, Text: p.text.String(), Signature: p.signature, Opaque: p.opaque})
			continue
		}
		n++
		args, ok := p.call.arguments()
		if !ok {
			broken = append(broken, callID(n))
			args = p.call.broken()
		}
		parts = append(parts, abi.Part{
			Type: abi.PartToolCall, CallID: callID(n), Name: toolName(p.call.name), Arguments: args, Signature: p.call.signature,
		})
	}
	return parts, broken
}

// maxToolName is the longest name of a tool that every vendor takes.
const maxToolName = 64

// toolName returns a call's name in a form that can be sent back to every
// provider. A model may call what no tool can be named: that becomes a name
// that no tool has, so the call is refused and the session stays usable (C030).
func toolName(name string) string {
	if name == "" {
		return "unnamed"
	}
	legal := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if legal == name && len(name) <= maxToolName {
		return name
	}
	legal = "invalid_" + legal
	return legal[:min(len(legal), maxToolName)]
}

// arguments returns the call's arguments, a JSON object; empty or null means
// that there are none. ok is false if they are something else, or if the call
// has no name.
func (k *call) arguments() (args string, ok bool) {
	args = strings.TrimSpace(k.args.String())
	if args == "" || args == "null" {
		args = "{}"
	}
	return args, k.name != "" && args[0] == '{' && json.Valid([]byte(args))
}

// maxBroken is how much of a broken call's arguments is kept, in bytes.
const maxBroken = 2000

// broken returns an object that holds what came of arguments that are none, so
// that the call can be sent back with the error that it got.
func (k *call) broken() string {
	args := k.args.String()
	if len(args) > maxBroken {
		args = args[:maxBroken]
	}
	b := jsonscan.AppendString([]byte(`{"invalid_arguments":`), strings.ToValidUTF8(args, "\uFFFD"))
	return string(append(b, '}'))
}

// has reports whether there is a part of the type; text that is blank is none.
func (c *collector) has(t abi.PartType) bool {
	for _, p := range c.parts {
		if p.typ == t && (t != abi.PartText || strings.TrimSpace(p.text.String()) != "") {
			return true
		}
	}
	return false
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
