package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// codecFile is the generated file in package abi.
const codecFile = "zz_codec.go"

// model is what the generator knows about package abi.
type model struct {
	documents []document
	words     []words
	consts    map[string]string // how the page shows a constant, by its Go name
}

// document is a struct type.
type document struct {
	name   string
	doc    string
	fields []field
}

// field is one field of a document.
type field struct {
	name, json string
	doc        string
	optional   bool // omitempty
	typ        goType
}

// goType is the type of a field: a base type, or a slice of it, or a pointer
// to it.
type goType struct {
	base           string // string, int64, float64, bool, Raw, a document or a words type
	slice, pointer bool
}

// words is a string type with its constants.
type words struct {
	name   string
	doc    string
	values []word
}

// word is one constant of a string type.
type word struct {
	name, value, doc string
}

func (m *model) document(name string) (document, bool) {
	i := slices.IndexFunc(m.documents, func(d document) bool { return d.name == name })
	if i < 0 {
		return document{}, false
	}
	return m.documents[i], true
}

func (m *model) wordsOf(name string) (words, bool) {
	i := slices.IndexFunc(m.words, func(w words) bool { return w.name == name })
	if i < 0 {
		return words{}, false
	}
	return m.words[i], true
}

// parse reads the package in dir. Documents keep the order of files and
// declarations.
func parse(dir string) (*model, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list package: %w", err)
	}
	m := &model{consts: map[string]string{}}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || filepath.Base(path) == codecFile {
			continue
		}
		src, err := os.ReadFile(path) //nolint:gosec // the package's own files
		if err != nil {
			return nil, fmt.Errorf("read package: %w", err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse package: %w", err)
		}
		if err := m.file(f); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	return m, nil
}

func (m *model) file(f *ast.File) error {
	for _, d := range f.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if err := m.typeSpec(decl, spec); err != nil {
					return fmt.Errorf("type %s: %w", spec.Name.Name, err)
				}
			case *ast.ValueSpec:
				if decl.Tok == token.CONST {
					m.constSpec(spec)
				}
			}
		}
	}
	return nil
}

func (m *model) typeSpec(decl *ast.GenDecl, spec *ast.TypeSpec) error {
	switch t := spec.Type.(type) {
	case *ast.Ident:
		if t.Name == "string" {
			m.words = append(m.words, words{name: spec.Name.Name, doc: line(decl.Doc)})
		}
	case *ast.StructType:
		if len(t.Fields.List) == 0 || t.Fields.List[0].Tag == nil {
			return nil // no document
		}
		d := document{name: spec.Name.Name, doc: line(decl.Doc)}
		for _, f := range t.Fields.List {
			fd, err := newField(f)
			if err != nil {
				return err
			}
			d.fields = append(d.fields, fd)
		}
		m.documents = append(m.documents, d)
	}
	return nil
}

func newField(f *ast.Field) (field, error) {
	if len(f.Names) != 1 || f.Tag == nil || f.Doc == nil {
		return field{}, errors.New("a field needs one name, a json tag and a comment")
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return field{}, fmt.Errorf("read tag: %w", err)
	}
	name, opts, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	out := field{name: f.Names[0].Name, json: name, doc: line(f.Doc), optional: opts == "omitempty"}
	expr := f.Type
	switch t := expr.(type) {
	case *ast.StarExpr:
		out.typ.pointer, expr = true, t.X
	case *ast.ArrayType:
		out.typ.slice, expr = true, t.Elt
	}
	ident, ok := expr.(*ast.Ident)
	if !ok || name == "" {
		return field{}, fmt.Errorf("field %s: neither codec nor page can show it", out.name)
	}
	out.typ.base = ident.Name
	return out, nil
}

func (m *model) constSpec(spec *ast.ValueSpec) {
	if len(spec.Values) != 1 {
		return
	}
	name := spec.Names[0].Name
	v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, types.ExprString(spec.Values[0]))
	if err != nil {
		return
	}
	if v.Value.Kind() != constant.String {
		m.consts[name] = v.Value.ExactString()
		return
	}
	value := constant.StringVal(v.Value)
	m.consts[name] = "`" + value + "`"
	ident, ok := spec.Type.(*ast.Ident)
	if !ok {
		return
	}
	for i := range m.words {
		if m.words[i].name == ident.Name {
			m.words[i].values = append(m.words[i].values, word{name, value, line(spec.Doc)})
		}
	}
}

// line makes one line of a comment.
func line(c *ast.CommentGroup) string {
	return strings.Join(strings.Fields(c.Text()), " ")
}
