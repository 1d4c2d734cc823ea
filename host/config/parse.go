package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// parser reads a TOML document into a tree with places. Only the syntax comes
// from go-toml: it stops at the first mistake, and here all are wanted.
type parser struct {
	file   string
	data   []byte
	lines  []int // offsets at which lines start
	base   int   // offset in data of what the go-toml parser was given
	toml   unstable.Parser
	root   *node
	table  string // the name of the [table] that lines belong to
	report *report
	lost   loss
}

// loss is how much of a file could not be read.
type loss int

const (
	lostNothing loss = iota
	lostLines        // single lines: a missing key may be in them
	lostRest         // all from some line on: a missing name may be in it, too
)

// parse returns the tree of a document. After a mistake in one line it goes on
// with the next; after one that it cannot place it takes what came before.
func parse(file string, data []byte, r *report) (root *node, lost loss) {
	p := &parser{
		file: file, data: data[:len(data):len(data)], report: r,
		root: &node{kind: kindTable, at: Origin{File: file}},
	}
	p.lines = lineStarts(data)
	p.toml.Reset(p.data)
	table := p.root
	end := 0
	before := len(r.list)
	for p.lost != lostRest {
		if p.toml.NextExpression() {
			e := p.toml.Expression()
			end = p.end(e)
			table = p.expression(table, e)
			continue
		}
		var pe *unstable.ParserError
		if !errors.As(p.toml.Error(), &pe) {
			break
		}
		next := p.syntax(pe, end)
		if next < 0 || len(r.list) >= maxProblems {
			p.lost = lostRest
		} else {
			p.base, end = next, next
			p.toml.Reset(p.data[next:])
		}
	}
	if len(r.list) == before {
		p.verify()
	}
	return p.root, p.lost
}

// verify asks go-toml itself, so that nothing passes here that is not TOML.
func (p *parser) verify() {
	var doc any
	var de *toml.DecodeError
	if errors.As(toml.Unmarshal(p.data, &doc), &de) {
		line, column := de.Position()
		p.report.add(Origin{File: p.file, Line: line, Column: column}, strings.Join(de.Key(), "."),
			strings.TrimPrefix(de.Error(), "toml: "), "")
	}
}

// syntax reports a mistake and returns the offset where reading can go on, or
// -1. end is where the last good expression ended.
func (p *parser) syntax(pe *unstable.ParserError, end int) int {
	p.lost = max(p.lost, lostLines)
	off := min(max(p.base+cap(p.toml.Data())-cap(pe.Highlight), 0), len(p.data))
	start := p.skipBlank(end)
	msg, hint := pe.Message, ""
	if off >= len(p.data)-1 && start < off {
		hint = "the file may have been saved only in part"
	}
	line := p.data[start:]
	next := bytes.IndexByte(line, '\n')
	if next >= 0 {
		line = line[:next]
	}
	sameLine := off >= start && off <= start+len(line)
	if _, value, ok := bytes.Cut(line, []byte("=")); ok && sameLine {
		if v := bytes.TrimSpace(value); len(v) > 0 && isLetter(v[0]) {
			msg, hint = "a value without quotes", "text goes in quotes"
		}
	}
	p.report.add(p.place(off), "", "this is not TOML: "+msg, hint)
	if next < 0 || !sameLine || line[0] == '[' {
		return -1
	}
	return start + next + 1
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// skipBlank returns the offset of the first byte at or after off that is
// neither blank nor in a comment.
func (p *parser) skipBlank(off int) int {
	for off < len(p.data) {
		switch p.data[off] {
		case ' ', '\t', '\r', '\n':
			off++
		case '#':
			n := bytes.IndexByte(p.data[off:], '\n')
			if n < 0 {
				return len(p.data)
			}
			off += n
		default:
			return off
		}
	}
	return off
}

// end returns the offset after the line on which an expression ends.
func (p *parser) end(e *unstable.Node) int {
	r := e.Raw
	if e.Kind != unstable.KeyValue {
		for it := e.Key(); it.Next(); {
			r = it.Node().Raw
		}
	}
	off := p.base + int(r.Offset) + int(r.Length)
	if n := bytes.IndexByte(p.data[off:], '\n'); n >= 0 {
		return off + n
	}
	return len(p.data)
}

// place turns an offset into line and column, in characters.
func (p *parser) place(off int) Origin {
	line, _ := slices.BinarySearch(p.lines, off+1)
	start := p.lines[line-1]
	return Origin{File: p.file, Line: line, Column: utf8.RuneCount(p.data[start:off]) + 1}
}

// lineStarts returns the offset of the first byte of each line.
func lineStarts(data []byte) []int {
	starts := []int{0}
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

func (p *parser) placeOf(n *unstable.Node) Origin { return p.place(p.base + int(n.Raw.Offset)) }

// expression adds one line of the file, and returns the table that the
// following lines belong to.
func (p *parser) expression(table *node, e *unstable.Node) *node {
	switch e.Kind {
	case unstable.KeyValue:
		p.keyValue(table, e, p.table, 0)
		return table
	case unstable.Table:
		return p.header(e)
	case unstable.ArrayTable:
		it := e.Key()
		it.Next()
		p.report.add(p.placeOf(it.Node()), string(it.Node().Data), "this is a list of tables, which no key takes",
			"write the name in single brackets")
		return &node{kind: kindTable}
	default:
		return table
	}
}

// header finds or makes the table of a [header].
func (p *parser) header(e *unstable.Node) *node {
	n, path := p.root, ""
	for it := e.Key(); it.Next(); {
		key, at := string(it.Node().Data), p.placeOf(it.Node())
		path = join(path, key)
		child := n.get(key)
		if child == nil {
			child = &node{kind: kindTable, at: at, value: at}
			p.add(n, key, child)
		}
		last := it.IsLast()
		if child.kind != kindTable || child.inline || last && (child.named || child.dotted) {
			p.twice(at, path, child)
			return &node{kind: kindTable}
		}
		if last {
			child.named, child.at = true, at
		}
		n = child
	}
	p.table = path
	return n
}

// add puts a new key into a table. A table with more than maxKeys ends the
// reading: no config has as many.
func (p *parser) add(n *node, key string, child *node) {
	if len(n.items) == maxKeys {
		p.report.add(child.at, "", fmt.Sprintf("more than %d keys in one table", maxKeys), "see that this is the right file")
		p.lost = lostRest
		return
	}
	n.items = append(n.items, entry{key, child})
}

func (p *parser) twice(at Origin, path string, first *node) {
	p.report.add(at, path, "this is set twice; first in line "+strconv.Itoa(first.at.Line), "keep one of the two")
}
