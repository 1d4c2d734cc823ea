package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zchost/zchost/host/fault"
)

// Problem is one mistake.
type Problem struct {
	// File is the path of the config file, or "env NAME" for a variable.
	File string
	// Line and Column count from 1; columns count characters. 0 if the
	// problem has no place in the file.
	Line, Column int
	// Key is the dotted key, "" if the problem is about the whole file.
	Key string
	// Msg says what is wrong. It never holds a value that may be a secret.
	Msg string
	// Hint says what to do; may be empty.
	Hint string
}

// String is one line: place, key, what is wrong, what to do.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if p.File != "" {
		b.WriteString(": ")
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Msg)
	if p.Hint != "" {
		b.WriteString("; " + p.Hint)
	}
	return b.String()
}

// Errors is everything that is wrong with a config, sorted by place.
type Errors struct {
	List []Problem
}

// Error is a line if there is one problem, else a line for each after a line
// that counts them.
func (e *Errors) Error() string {
	if len(e.List) == 1 {
		return e.List[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the config has %d problems:", len(e.List))
	for _, p := range e.List {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

// Unwrap gives the error the code of a config fault.
func (e *Errors) Unwrap() error {
	return fault.New(fault.Config, "the config is wrong", "correct it; `zchost config check` looks again")
}

// maxProblems bounds one report: a file of another kind has thousands.
const maxProblems = 100

// report collects problems.
type report struct {
	list []Problem
}

func (r *report) add(o Origin, key, msg, hint string) {
	r.list = append(r.list, Problem{
		File: o.source(), Line: o.Line, Column: o.Column, Key: key, Msg: msg, Hint: hint,
	})
}

// err returns all problems in the order of the file, those from the
// environment first, or nil.
func (r *report) err() error {
	if len(r.list) == 0 {
		return nil
	}
	slices.SortStableFunc(r.list, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Key, b.Key),
		)
	})
	if n := len(r.list) - maxProblems; n > 0 {
		r.list = append(r.list[:maxProblems:maxProblems], Problem{
			File: r.list[0].File, Msg: fmt.Sprintf("and %d more", n),
		})
	}
	return &Errors{List: r.list}
}

// Origin is where a value comes from. The zero Origin is a default.
type Origin struct {
	// File is the config file's path.
	File string
	// Line and Column are the place in it, from 1.
	Line, Column int
	// Env is the variable, if the value is from the environment.
	Env string
}

// String is "default", "env NAME", or the file's place.
func (o Origin) String() string {
	switch {
	case o.Env != "":
		return "env " + o.Env
	case o.File == "":
		return "default"
	case o.Line == 0:
		return o.File
	}
	return fmt.Sprintf("%s:%d:%d", o.File, o.Line, o.Column)
}

func (o Origin) source() string {
	if o.Env != "" {
		return "env " + o.Env
	}
	return o.File
}

// Origin tells where the value of a dotted key comes from, as
// "providers.openai.api_keys[0]". For a key that is not set it is the place of
// the nearest table around it, so that it serves for error messages too.
func (c Config) Origin(key string) Origin {
	for key != "" {
		if o, ok := c.origins[key]; ok {
			return o
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return Origin{File: c.file}
}
