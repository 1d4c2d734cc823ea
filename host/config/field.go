package config

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/zchost/zchost/host/cost"
)

// field is a key of a table, as the tags of a struct tell it.
type field struct {
	key, doc, def string
	index         []int
	typ           reflect.Type // without pointer
	ref           string       // the table that holds the valid names
	enum          []string
	secret        bool
	value         bool     // of an env or headers table
	hosts         string   // "some" for hosts, "any" if "*" is one of them
	names         nameForm // of the keys of a map, or of the entries of a list
	required      bool
	min, max      float64 // nanoseconds for durations, bytes for text
	limits        string  // the range as it is written
}

// fieldsOf returns the keys of a table in the order of its struct; those of an
// embedded struct belong to the table itself.
func fieldsOf(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous {
			for _, f := range fieldsOf(sf.Type) {
				f.index = append([]int{i}, f.index...)
				list = append(list, f)
			}
			continue
		}
		if key := sf.Tag.Get("toml"); key != "" {
			list = append(list, newField(key, i, sf))
		}
	}
	return list
}

func newField(key string, i int, sf reflect.StructField) field {
	f := field{
		key: key, doc: sf.Tag.Get("doc"), def: sf.Tag.Get("default"), index: []int{i},
		typ: sf.Type, ref: sf.Tag.Get("ref"), secret: sf.Tag.Get("secret") != "",
		value: sf.Tag.Get("value") != "", hosts: sf.Tag.Get("hosts"), names: nameForm(sf.Tag.Get("names")),
		required: sf.Tag.Get("required") != "",
		min:      math.Inf(-1), max: math.Inf(1), limits: sf.Tag.Get("range"),
	}
	if f.typ.Kind() == reflect.Pointer {
		f.typ = f.typ.Elem()
	}
	if e := sf.Tag.Get("enum"); e != "" {
		f.enum = strings.Split(e, "|")
	}
	if low, high, ok := strings.Cut(f.limits, ".."); ok {
		f.min, f.max = f.limit(low), f.limit(high)
	}
	return f
}

// limit reads one end of a range tag; a wrong tag gives NaN, which a test
// finds.
func (f *field) limit(s string) float64 {
	if f.isDuration() {
		if d, err := time.ParseDuration(s); err == nil {
			return float64(d)
		}
		return math.NaN()
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return v
	}
	return math.NaN()
}

func (f *field) isDuration() bool { return f.typ == reflect.TypeFor[time.Duration]() }

func (f *field) isAmount() bool { return f.typ == reflect.TypeFor[cost.Amount]() }

func findField(fields []field, key string) (field, bool) {
	for _, f := range fields {
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}
