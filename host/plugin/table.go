package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// table reads one table of a manifest and notes every problem, where a decoder
// into a struct stops at the first. A table that is absent reads as empty.
type table struct {
	path   string
	values map[string]any // open: what TOML gave
	used   map[string]bool
	found  *[]string
}

// openTable parses TOML.
func openTable(data []byte) (*table, error) {
	if len(data) > maxManifest {
		return nil, fmt.Errorf("plugin.toml is larger than %d KiB", maxManifest>>10)
	}
	values := map[string]any{}
	if err := toml.Unmarshal(data, &values); err != nil {
		var syntax *toml.DecodeError
		if errors.As(err, &syntax) {
			row, column := syntax.Position()
			return nil, fmt.Errorf("plugin.toml line %d column %d: %s", row, column, strings.TrimPrefix(syntax.Error(), "toml: "))
		}
		return nil, fmt.Errorf("plugin.toml: %w", err)
	}
	return &table{values: values, used: map[string]bool{}, found: &[]string{}}, nil
}

func (t *table) problems() []string { return *t.found }

func (t *table) problem(key, format string, args ...any) {
	*t.found = append(*t.found, fmt.Sprintf("%s %s", t.path+key, fmt.Sprintf(format, args...)))
}

func (t *table) has(key string) bool {
	_, ok := t.values[key]
	return ok
}

// rest reports the keys that nobody asked for.
func (t *table) rest() {
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if !t.used[key] {
			what := "is not a key of plugin.toml"
			if t.path == "capabilities." {
				what = "is not a capability"
			}
			t.problem(printable(key), "%s", what)
		}
	}
}

// value returns the value of a key if it has the type T.
func value[T any](t *table, key, want string) (v T, ok bool) {
	t.used[key] = true
	raw, found := t.values[key]
	if !found {
		return v, false
	}
	if v, ok = raw.(T); !ok {
		t.problem(key, "is not %s", want)
	}
	return v, ok
}

func (t *table) text(key string) string {
	s, _ := value[string](t, key, "a string")
	if len(s) > 2000 {
		t.problem(key, "is longer than 2000 bytes")
		return ""
	}
	return s
}

func (t *table) boolean(key string) bool {
	b, _ := value[bool](t, key, "true or false")
	return b
}

func (t *table) integer(key string, def, least, most int) int {
	n, ok := value[int64](t, key, "a whole number")
	switch {
	case !ok:
		return def
	case n < int64(least) || n > int64(most):
		t.problem(key, "is %d; it is between %d and %d", n, least, most)
		return def
	}
	return int(n)
}

func (t *table) millis(key string, def, least, most time.Duration) time.Duration {
	ms := t.integer(key, int(def.Milliseconds()), int(least.Milliseconds()), int(most.Milliseconds()))
	return time.Duration(ms) * time.Millisecond
}

// oneOf reads one of the words; without a default it must be there.
func (t *table) oneOf(key, def string, words ...string) string {
	s, ok := value[string](t, key, "a string")
	switch {
	case !ok && !t.has(key) && def == "":
		t.problem(key, "is missing; it is one of %s", strings.Join(words, ", "))
	case ok && !slices.Contains(words, s):
		t.problem(key, "is %q; it is one of %s", printable(s), strings.Join(words, ", "))
		return ""
	case !ok:
		return def
	}
	return s
}

// texts reads a list of strings; one string stands for a list of one.
func (t *table) texts(key string) []string {
	if s, ok := t.values[key].(string); ok {
		t.used[key] = true
		return []string{s}
	}
	list, _ := value[[]any](t, key, "a list of strings")
	var out []string
	for _, v := range list {
		s, ok := v.(string)
		if !ok || s == "" || len(s) > 200 || slices.Contains(out, s) || len(out) == 200 {
			t.problem(key, "is not a list of at most 200 different names")
			return nil
		}
		out = append(out, s)
	}
	return out
}

func (t *table) table(key string) (sub *table, ok bool) {
	values, ok := value[map[string]any](t, key, "a table")
	return t.sub(key, values), ok
}

func (t *table) tables(key string, most int) []*table {
	list, _ := value[[]any](t, key, "a list of tables")
	if len(list) > most {
		t.problem(key, "has more than %d entries", most)
		return nil
	}
	var out []*table
	for i, v := range list {
		values, ok := v.(map[string]any)
		if !ok {
			t.problem(key, "is not a list of tables")
			return nil
		}
		out = append(out, t.sub(fmt.Sprintf("%s[%d]", key, i), values))
	}
	return out
}

func (t *table) sub(key string, values map[string]any) *table {
	return &table{path: t.path + key + ".", values: values, used: map[string]bool{}, found: t.found}
}

// schema reads the [config] table: a JSON Schema of an object.
func (t *table) schema() json.RawMessage {
	values, ok := value[map[string]any](t, "config", "a table")
	if !ok {
		return nil
	}
	text, err := json.Marshal(values)
	if err == nil {
		_, err = resolveSchema(text)
	}
	if err != nil {
		t.problem("config", "is not a valid JSON Schema: %s", printable(err.Error()))
		return nil
	}
	return text
}
