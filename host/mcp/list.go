package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/tool"
)

// Bounds of a list of tools. All of it is in every request to a model.
const (
	// maxPages is how many pages of a list are read.
	maxPages = 64
	// maxDescription is the longest description in bytes; a longer one is cut.
	maxDescription = 4 << 10
	// maxSchema is the longest schema in bytes; a tool with a longer one is
	// left out.
	maxSchema = 64 << 10
	// maxList is how long all descriptions and schemas are together, in bytes.
	maxList = 512 << 10
	// maxToolName is the longest name that models take.
	maxToolName = 64
)

// found is what a server listed.
type found struct {
	tools   []tool.Tool
	leftOut []string // which are not used, and why
}

// omit notes that something is left out.
func (f *found) omit(format string, args ...any) {
	f.leftOut = append(f.leftOut, clip(oneLine(fmt.Sprintf(format, args...)), maxReason))
}

// list asks a server for its tools.
func (s *Server) list(ctx context.Context, l *link) (found, error) {
	var f found
	if !l.hasTools {
		return f, nil
	}
	listed, err := f.pages(ctx, l.session)
	if err != nil {
		return found{}, err
	}
	names := exposedNames(s.cfg.Name, listed)
	size := 0
	for i, t := range listed {
		one, err := s.adopt(t, names[i])
		if err != nil {
			f.omit("%s: %v", s.tidy(t.Name), err)
			continue
		}
		spec := one.Spec()
		if size += len(spec.Description) + len(spec.InputSchema); size > maxList {
			f.omit("%s and %d more: all descriptions together are longer than %d KiB", s.tidy(t.Name), len(listed)-i-1, maxList>>10)
			break
		}
		f.tools = append(f.tools, one)
	}
	for _, why := range f.leftOut {
		s.cfg.Logger.Warn("MCP tool is left out", "server", s.cfg.Name, "why", why)
	}
	return f, nil
}

// pages reads the list page by page. A name that comes twice counts once.
func (f *found) pages(ctx context.Context, session *sdk.ClientSession) ([]*sdk.Tool, error) {
	var all []*sdk.Tool
	seen := map[string]bool{}
	cursors := map[string]bool{"": true}
	cursor := ""
	for range maxPages {
		page, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			switch {
			case t == nil:
			case seen[t.Name]:
				f.omit("%s: it is listed twice", t.Name)
			case len(all) == MaxTools:
				f.omit("%s and what follows: there are more than %d tools", t.Name, MaxTools)
				return all, nil
			default:
				seen[t.Name] = true
				all = append(all, t)
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			return all, nil
		}
		if cursors[cursor] {
			return nil, errors.New("its pages lead back to one that was read")
		}
		cursors[cursor] = true
	}
	f.omit("what follows: the list has more than %d pages", maxPages)
	return all, nil
}

// adopt makes a tool of a server's one of the host's.
func (s *Server) adopt(t *sdk.Tool, name string) (tool.Tool, error) {
	schema, err := inputSchema(t.InputSchema)
	if err != nil {
		return nil, err
	}
	one := &remote{s: s, name: t.Name, spec: tool.Spec{
		Name:        name,
		Description: s.describe(t),
		InputSchema: schema,
		Effect:      s.effect(t.Annotations),
		Timeout:     s.cfg.Timeout,
		Source:      "mcp " + s.cfg.Name,
	}}
	if err := checkable(one); err != nil {
		if one.spec.InputSchema, err = loosen(schema); err != nil || checkable(one) != nil {
			return nil, errors.New("its input schema is none that the host can check")
		}
	}
	return one, nil
}

// checkable tells whether a set takes the tool: one that it does not take would
// spoil the set for all others.
func checkable(t tool.Tool) error {
	_, err := tool.NewSet([]tool.Tool{t})
	return err
}

// effect is write, unless the server says that the tool only reads and its word
// counts.
func (s *Server) effect(a *sdk.ToolAnnotations) abi.Effect {
	if s.cfg.Trust && a != nil && a.ReadOnlyHint {
		return abi.EffectRead
	}
	return abi.EffectWrite
}

// describe returns what the model reads about a tool.
func (s *Server) describe(t *sdk.Tool) string {
	title := t.Title
	if title == "" && t.Annotations != nil {
		title = t.Annotations.Title
	}
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, cmp.Or(t.Description, title, t.Name))
	return clip(s.cfg.Redactor.String(text), maxDescription)
}

// exposedNames returns the names that models know the tools by: NAME__tool with
// only the characters that all of them take. A name that had to be changed and
// then is another's too gets a few digits more, the same ones every time.
func exposedNames(server string, tools []*sdk.Tool) []string {
	names := make([]string, len(tools))
	taken := map[string]bool{}
	for i, t := range tools {
		if name := Exposed(server, t.Name); name == server+"__"+t.Name {
			names[i], taken[name] = name, true
		}
	}
	for i, t := range tools {
		if names[i] != "" {
			continue
		}
		name := Exposed(server, t.Name)
		if taken[name] {
			name = distinct(name, t.Name)
		}
		names[i], taken[name] = name, true
	}
	return names
}

// Exposed returns the name that models know a server's tool by, as long as no
// other tool of the server has it.
func Exposed(server, name string) string {
	full := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, server+"__"+name)
	if len(full) > maxToolName {
		return distinct(full, name)
	}
	return full
}

// distinct ends a name with digits that come from the original one.
func distinct(name, original string) string {
	sum := sha256.Sum256([]byte(original))
	digits := "_" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), maxToolName-len(digits))] + digits
}

// Named tells whether t is the tool that its server calls name.
func Named(t tool.Tool, name string) bool {
	r, ok := t.(*remote)
	return ok && r.name == name
}

// inputSchema returns a tool's schema as JSON, with sorted keys.
func inputSchema(v any) (abi.Raw, error) {
	object, ok := v.(map[string]any)
	if v == nil {
		object, ok = map[string]any{}, true
	}
	if !ok {
		return nil, errors.New("its input schema is not an object")
	}
	if _, ok := object["type"]; !ok {
		object["type"] = "object" // what the protocol asks for
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("its input schema: %w", err)
	}
	if len(text) > maxSchema {
		return nil, fmt.Errorf("its input schema is longer than %d KiB", maxSchema>>10)
	}
	return text, nil
}

// loosen takes out of a schema what the host may not be able to check: patterns
// that Go does not know, and names of schemas elsewhere. The server itself
// still checks them.
func loosen(schema abi.Raw) (abi.Raw, error) {
	var v map[string]any
	if err := json.Unmarshal(schema, &v); err != nil {
		return nil, err
	}
	loosenObject(v)
	return json.Marshal(v)
}

func loosenObject(v map[string]any) {
	for _, key := range []string{"$schema", "$id", "id", "pattern", "patternProperties", "format", "contentMediaType"} {
		delete(v, key)
	}
	for key, value := range v {
		named := slices.Contains([]string{"properties", "$defs", "definitions", "dependentSchemas"}, key)
		switch value := value.(type) {
		case map[string]any:
			if !named {
				loosenObject(value)
				continue
			}
			for _, below := range value { // the keys are names here, and no keywords
				if schema, ok := below.(map[string]any); ok {
					loosenObject(schema)
				}
			}
		case []any:
			for _, below := range value {
				if schema, ok := below.(map[string]any); ok {
					loosenObject(schema)
				}
			}
		}
	}
}
