package plugin

import (
	"bytes"
	"errors"
	"fmt"
)

// pageSize is the unit of a WebAssembly memory, in bytes.
const pageSize = 64 << 10

// The sections of a WebAssembly binary that are looked at here. See
// https://webassembly.github.io/spec/core/binary/modules.html#sections.
const (
	sectionCustom    = 0
	sectionType      = 1
	sectionImport    = 2
	sectionFunction  = 3
	sectionMemory    = 5
	sectionExport    = 7
	sectionData      = 11
	sectionDataCount = 12
)

// The kinds of import and export.
const (
	externFunc   = 0
	externTable  = 1
	externMemory = 2
	externGlobal = 3
)

// valueI32 and valueI64 are the encodings of the value types that the ABI uses.
const (
	valueI32 = 0x7f
	valueI64 = 0x7e
)

// signature is the type of a function: the encodings of its parameters, then
// of its results.
type signature struct{ params, results string }

// moduleImport is one thing that a module needs from its host.
type moduleImport struct {
	module, name string
	kind         byte
	sig          signature // of a function
}

// section is one section of a binary; data is a part of the binary itself.
type section struct {
	id   byte
	data []byte
}

// module is what is known of a WebAssembly binary without compiling it.
type module struct {
	sections []section
	types    []signature
	funcs    []uint32 // type index of each function, imported ones first
	imports  []moduleImport
	exports  map[string]signature // of functions
	minPages uint64               // what its memory has at the start
}

// errNotWasm is returned for bytes that are no WebAssembly module at all.
var errNotWasm = errors.New("it is not a WebAssembly module")

// inspect reads the outline of a binary: it checks no code, the compiler does
// that. All memory that it takes is bounded by the length of the binary.
func inspect(binary []byte) (*module, error) {
	head, rest, ok := cut(binary, 8)
	switch {
	case !ok || !bytes.HasPrefix(head, []byte("\x00asm")):
		return nil, errNotWasm
	case bytes.Equal(head[4:], []byte{0x0d, 0, 1, 0}):
		return nil, errors.New("it is a WebAssembly component; this host runs core modules")
	case !bytes.Equal(head[4:], []byte{1, 0, 0, 0}):
		return nil, errors.New("its version of the WebAssembly binary format is not 1")
	}
	m := &module{exports: map[string]signature{}}
	for r := (reader{b: rest}); len(r.b) > 0; {
		s := section{id: r.byte()}
		s.data = r.bytes(r.u32())
		if r.err != nil {
			return nil, fmt.Errorf("section %d of its binary: %w", s.id, r.err)
		}
		m.sections = append(m.sections, s)
		if err := m.read(s); err != nil {
			return nil, fmt.Errorf("section %d of its binary: %w", s.id, err)
		}
	}
	return m, nil
}

func (m *module) read(s section) error {
	r := reader{b: s.data}
	switch s.id {
	case sectionType:
		r.vector(func() { m.types = append(m.types, r.signature()) })
	case sectionImport:
		r.vector(func() { m.readImport(&r) })
	case sectionFunction:
		r.vector(func() { m.funcs = append(m.funcs, r.u32()) })
	case sectionMemory:
		r.vector(func() { m.minPages = max(m.minPages, r.limits()) })
	case sectionExport:
		r.vector(func() { m.readExport(&r) })
	default:
		return nil
	}
	return r.err
}

func (m *module) readImport(r *reader) {
	i := moduleImport{module: r.name(), name: r.name(), kind: r.byte()}
	switch i.kind {
	case externFunc:
		t := r.u32()
		m.funcs = append(m.funcs, t)
		i.sig = m.typeAt(t, r)
	case externTable:
		r.byte()
		r.limits()
	case externMemory:
		r.limits()
	case externGlobal:
		r.byte()
		r.byte()
	default:
		r.fail("unknown kind of import")
	}
	m.imports = append(m.imports, i)
}

func (m *module) readExport(r *reader) {
	name, kind, index := r.name(), r.byte(), r.u32()
	if kind != externFunc || r.err != nil {
		return
	}
	if uint64(index) >= uint64(len(m.funcs)) {
		r.fail("an export names a function that does not exist")
		return
	}
	m.exports[name] = m.typeAt(m.funcs[index], r)
}

func (m *module) typeAt(index uint32, r *reader) signature {
	if uint64(index) >= uint64(len(m.types)) {
		r.fail("a function has a type that does not exist")
		return signature{}
	}
	return m.types[index]
}

// reader reads the primitive values of a binary. After the first failure
// everything it returns is zero.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(msg string) {
	if r.err == nil {
		r.err = errors.New(msg)
	}
	r.b = nil
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail("it is cut short")
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) bytes(n uint32) []byte {
	got, rest, ok := cut(r.b, uint64(n))
	if !ok {
		r.fail("it is cut short")
		return nil
	}
	r.b = rest
	return got
}

func (r *reader) name() string { return string(r.bytes(r.u32())) }

// u64 reads an unsigned LEB128 number of at most 64 bits.
func (r *reader) u64() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.fail("a number is too long")
	return 0
}

func (r *reader) u32() uint32 {
	v := r.u64()
	if v > 1<<32-1 {
		r.fail("a number is too large")
		return 0
	}
	return uint32(v)
}

// vector calls read once for each element that a count announces.
func (r *reader) vector(read func()) {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		read()
	}
}

func (r *reader) signature() signature {
	if r.byte() != 0x60 {
		r.fail("a type is not a function type")
	}
	return signature{params: r.name(), results: r.name()}
}

// limits reads the limits of a memory or table and returns the minimum.
func (r *reader) limits() uint64 {
	flags := r.byte()
	least := r.u64()
	if flags&1 != 0 {
		r.u64()
	}
	return least
}

func cut(b []byte, n uint64) (head, tail []byte, ok bool) {
	if n > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}
