package protocols

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// What a strict server refuses in the history of a request. Each vendor
// documents these, and answers 400 to what breaks them.

// strict checks a request as the wire's vendor does.
func strict(w wire, body string) error {
	n, err := parse(body)
	if err != nil {
		return err
	}
	check := map[string]func(node) error{
		"openai-chat": strictChat, "anthropic": strictAnthropic, "openai-responses": strictResponses,
		"gemini": strictGemini, "ollama": strictOllama,
	}[w.plugin()]
	return check(n)
}

// open are the calls that wait for their results.
type open struct {
	waiting []string
	known   map[string]bool
}

// call notes a call, whose id no other call may have.
func (o *open) call(id string, allowed *regexp.Regexp) error {
	if o.known == nil {
		o.known = map[string]bool{}
	}
	if !allowed.MatchString(id) {
		return fmt.Errorf("the call id %q does not match %s", id, allowed)
	}
	if o.known[id] {
		return fmt.Errorf("two calls have the id %q", id)
	}
	o.known[id] = true
	o.waiting = append(o.waiting, id)
	return nil
}

// result notes a result, which must be that of a waiting call.
func (o *open) result(id string) error {
	i := slices.Index(o.waiting, id)
	if i < 0 {
		return fmt.Errorf("a result for %q, which no call before it has", id)
	}
	o.waiting = slices.Delete(o.waiting, i, i+1)
	return nil
}

// none fails if a call has no result.
func (o *open) none() error {
	if len(o.waiting) > 0 {
		return fmt.Errorf("calls without a result directly after them: %v", o.waiting)
	}
	return nil
}

// Chat completions: at most 40 characters an id; the results directly follow.
func strictChat(n node) error {
	id := regexp.MustCompile(`^.{1,40}$`)
	var calls open
	for i, m := range n.get("messages").items {
		role := m.str("role")
		if role != "tool" {
			if err := calls.none(); err != nil {
				return fmt.Errorf("messages[%d]: %w", i, err)
			}
		} else if err := calls.result(m.str("tool_call_id")); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
		for _, c := range m.get("tool_calls").items {
			if err := calls.call(c.str("id"), id); err != nil {
				return fmt.Errorf("messages[%d]: %w", i, err)
			}
			if args, err := parse(c.str("function", "arguments")); err != nil || !args.object {
				return fmt.Errorf("messages[%d]: arguments %q are no object", i, c.str("function", "arguments"))
			}
			if c.str("type") != "function" || c.str("function", "name") == "" {
				return fmt.Errorf("messages[%d]: a call without type or name", i)
			}
		}
	}
	return calls.none()
}

// Messages: roles alternate and a person begins; every tool_use has its
// tool_result at the beginning of the next message.
func strictAnthropic(n node) error {
	id := regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	var calls open
	if !n.has("max_tokens") {
		return errors.New("max_tokens: field required")
	}
	last := "assistant"
	for i, m := range n.get("messages").items {
		role := m.str("role")
		if role == last || (role != "user" && role != "assistant") {
			return fmt.Errorf("messages[%d]: role %q after %q", i, role, last)
		}
		last = role
		blocks := m.get("content").items
		if len(blocks) == 0 && m.str("content") == "" {
			return fmt.Errorf("messages[%d]: content is empty", i)
		}
		for _, b := range blocks {
			switch typ := b.str("type"); {
			case typ == "tool_result":
				if err := calls.result(b.str("tool_use_id")); err != nil {
					return fmt.Errorf("messages[%d]: %w", i, err)
				}
				continue
			case typ == "text" && b.str("text") == "":
				return fmt.Errorf("messages[%d]: text content blocks must be non-empty", i)
			case role == "user":
				if err := calls.none(); err != nil {
					return fmt.Errorf("messages[%d]: %w", i, err)
				}
			case typ == "tool_use":
				if err := calls.call(b.str("id"), id); err != nil || !b.get("input").object {
					return fmt.Errorf("messages[%d]: tool_use: %w", i, errors.Join(err, errors.New("the input is an object")))
				}
			}
		}
		if role == "user" {
			if err := calls.none(); err != nil {
				return fmt.Errorf("messages[%d]: %w", i, err)
			}
		}
	}
	if last != "user" {
		return errors.New("the last message is not a person's")
	}
	return calls.none()
}

// Responses: a call and its output have the same call_id of at most 64
// characters.
func strictResponses(n node) error {
	id := regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	var calls open
	for i, item := range n.get("input").items {
		var err error
		switch item.str("type") {
		case "function_call":
			err = calls.call(item.str("call_id"), id)
			if args, bad := parse(item.str("arguments")); bad != nil || !args.object {
				err = errors.Join(err, errors.New("the arguments are no object"))
			}
		case "function_call_output":
			err = calls.result(item.str("call_id"))
		default:
			err = calls.none()
		}
		if err != nil {
			return fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	return calls.none()
}

// Gemini: roles alternate; after a model's calls come as many responses, of
// the same names in the same order.
func strictGemini(n node) error {
	last := "model"
	var names []string
	for i, c := range n.get("contents").items {
		role := c.str("role")
		if role == last || (role != "user" && role != "model") {
			return fmt.Errorf("contents[%d]: role %q after %q", i, role, last)
		}
		last = role
		if len(c.get("parts").items) == 0 {
			return fmt.Errorf("contents[%d]: no parts", i)
		}
		var responses []string
		var calls []string
		for _, p := range c.get("parts").items {
			if p.has("functionResponse") {
				responses = append(responses, p.str("functionResponse", "name"))
				if !p.get("functionResponse", "response").object {
					return fmt.Errorf("contents[%d]: the response is no object", i)
				}
			}
			if p.has("functionCall") {
				calls = append(calls, p.str("functionCall", "name"))
				if args := p.get("functionCall", "args"); p.get("functionCall").has("args") && !args.object {
					return fmt.Errorf("contents[%d]: args are no object", i)
				}
			}
		}
		if !slices.Equal(names, responses) {
			return fmt.Errorf("contents[%d]: the calls are %v, the responses %v", i, names, responses)
		}
		names = calls
	}
	if len(names) > 0 {
		return fmt.Errorf("the calls %v have no responses", names)
	}
	return nil
}

// Ollama: arguments are objects, and results follow their calls.
func strictOllama(n node) error {
	waiting := 0
	for i, m := range n.get("messages").items {
		if m.str("role") == "tool" {
			waiting--
		} else if waiting != 0 {
			return fmt.Errorf("messages[%d]: %d calls have no result", i, waiting)
		}
		if waiting < 0 {
			return fmt.Errorf("messages[%d]: a result without a call", i)
		}
		for _, c := range m.get("tool_calls").items {
			waiting++
			if !c.get("function", "arguments").object || c.str("function", "name") == "" {
				return fmt.Errorf("messages[%d]: a call without a name or an object of arguments", i)
			}
		}
	}
	if waiting != 0 {
		return fmt.Errorf("%d calls have no result", waiting)
	}
	return nil
}
