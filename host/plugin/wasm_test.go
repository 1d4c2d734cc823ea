package plugin_test

import (
	"encoding/binary"
	"slices"
)

// The value types and opcodes that the hand-made modules use. See
// https://webassembly.github.io/spec/core/binary/instructions.html.
const (
	i32 = "\x7f"
	i64 = "\x7e"

	unreachable = "\x00"
	loopForEver = "\x03\x40\x0c\x00\x0b" // loop, br 0, end
	ifNext      = "\x04\x40"
	end         = "\x0b"
	drop        = "\x1a"
	eq          = "\x46"
	sub         = "\x6b"
	returns     = "\x0f"
)

// wasm is a module written by hand.
type wasm struct {
	imports []wasmImport
	funcs   []wasmFunc
	memory  []uint64 // minimum, and maximum if there is one
	data    []wasmData
	custom  string // contents of a custom section
	count   bool   // with a data count section
}

type wasmImport struct{ module, name, params, results string }

type wasmFunc struct{ export, params, results, body string }

type wasmData struct {
	at   int32
	data string
}

// bytes encodes the module. Function n has type n.
func (w wasm) bytes() []byte {
	var types, imports, funcs, exports, codes, data []string
	for _, i := range w.imports {
		imports = append(imports, name(i.module)+name(i.name)+"\x00"+uleb(uint64(len(types))))
		types = append(types, "\x60"+name(i.params)+name(i.results))
	}
	for _, f := range w.funcs {
		index := uleb(uint64(len(types)))
		funcs = append(funcs, index)
		exports = append(exports, name(f.export)+"\x00"+index)
		types = append(types, "\x60"+name(f.params)+name(f.results))
		codes = append(codes, name("\x00"+f.body+end))
	}
	for _, d := range w.data {
		data = append(data, "\x00"+constant(d.at)+end+name(d.data))
	}
	out := "\x00asm\x01\x00\x00\x00" + section(1, vector(types)) + section(2, vector(imports)) + section(3, vector(funcs))
	switch len(w.memory) {
	case 1:
		out += section(5, "\x01\x00"+uleb(w.memory[0]))
	case 2:
		out += section(5, "\x01\x01"+uleb(w.memory[0])+uleb(w.memory[1]))
	}
	if w.memory != nil {
		exports = append(exports, name("memory")+"\x02\x00")
	}
	out += section(7, vector(exports))
	if w.count {
		out += section(12, uleb(uint64(len(data))))
	}
	out += section(10, vector(codes)) + section(11, vector(data))
	if w.custom != "" {
		out += section(0, name("name")+w.custom)
	}
	return []byte(out)
}

func section(id byte, body string) string {
	if body == "\x00" {
		return "" // an empty vector
	}
	return string([]byte{id}) + name(body)
}

func vector(items []string) string {
	out := uleb(uint64(len(items)))
	for _, i := range items {
		out += i
	}
	return out
}

func name(s string) string { return uleb(uint64(len(s))) + s }

func uleb(v uint64) string { return string(binary.AppendUvarint(nil, v)) }

// constant is i32.const.
func constant(v int32) string {
	out := []byte{0x41}
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && c&0x40 == 0) || (v == -1 && c&0x40 != 0) {
			return string(append(out, c))
		}
		out = append(out, c|0x80)
	}
}

// constant64 is i64.const, of a number that is not negative.
func constant64(v uint64) string {
	out := []byte{0x42}
	for ; v >= 0x40; v >>= 7 {
		out = append(out, byte(v&0x7f)|0x80)
	}
	return string(append(out, byte(v)))
}

func call(function uint64) string { return "\x10" + uleb(function) }

// load8 and load32 load from a constant address; store32 stores what source
// pushes at one.
func load8(at int32) string  { return constant(at) + "\x2d\x00\x00" }
func load32(at int32) string { return constant(at) + "\x28\x02\x00" }
func store32(at int32, source string) string {
	return constant(at) + source + "\x36\x02\x00"
}

// growAll grows the memory by 16 pages until that fails, and then traps.
func growAll() string {
	return "\x03\x40" + constant(16) + "\x40\x00" + constant(-1) + "\x47\x0d\x00" + end + unreachable
}

// on runs then if the first byte of the input is c.
func on(c byte, then string) string {
	return load8(64) + constant(int32(c)) + eq + ifNext + then + end
}

// switchModule is a plugin on stdin and stdout that does what the first byte of
// its input says:
//
//	t trap   l loop   xN exit with code N   g grow   b write without end
//	p write from a bad pointer   2 a length of 2^31   r read to a bad pointer
//	a call zchost:host/v1 random (if it has the import), else echo
func switchModule(memory ...uint64) wasm {
	const fdRead, fdWrite, procExit = 0, 1, 2
	read := constant(0) + constant(0) + constant(1) + constant(16) + call(fdRead)
	write := func(iov int32) string {
		return constant(1) + constant(iov) + constant(1) + constant(20) + call(fdWrite)
	}
	body := store32(0, constant(64)) + store32(4, constant(1024)) + store32(8, constant(64)) +
		read + drop + store32(12, load32(16)) +
		on('t', unreachable) +
		on('l', loopForEver) +
		on('x', load8(65)+constant('0')+sub+call(procExit)) +
		on('g', growAll()) +
		on('b', "\x03\x40"+write(8)+drop+"\x0c\x00"+end) +
		on('p', write(-16)+returns) +
		on('2', store32(12, constant(-1<<31))+write(8)+returns) +
		on('r', store32(0, constant(-64))+read+returns) +
		write(8) + drop + constant(0)
	if len(memory) == 0 {
		memory = []uint64{1}
	}
	return wasm{
		imports: []wasmImport{
			{"wasi_snapshot_preview1", "fd_read", i32 + i32 + i32 + i32, i32},
			{"wasi_snapshot_preview1", "fd_write", i32 + i32 + i32 + i32, i32},
			{"wasi_snapshot_preview1", "proc_exit", i32, ""},
		},
		funcs:  []wasmFunc{{"before_agent_reply", "", i32, body}},
		memory: slices.Clone(memory),
	}
}

// extismSwitch is the same for Extism's input and output: t trap, l loop, xN
// exit, g grow, a fill Extism's kernel, p output at a bad pointer, 2 output of 2^31 bytes, z no output;
// else it returns the first byte.
func extismSwitch() wasm {
	const inputLoad, alloc, storeByte, outputSet, procExit = 0, 1, 2, 3, 4
	inputByte := func(n uint64) string { return constant64(n) + call(inputLoad) }
	body := "\x41\xc0\x00" + inputByte(0) + "\x3a\x00\x00" + // i32.store8 at 64
		on('t', unreachable) +
		on('l', loopForEver) +
		on('x', inputByte(1)+constant('0')+sub+call(procExit)) +
		on('g', growAll()) +
		on('p', constant64(1<<31)+constant64(16)+call(outputSet)+constant(0)+returns) +
		on('2', constant64(0)+constant64(1<<31)+call(outputSet)+constant(0)+returns) +
		on('z', constant(0)+returns) +
		on('a', "\x03\x40"+constant64(1<<20)+call(alloc)+"\x50\x45\x0d\x00"+end) + // i64.eqz, i32.eqz, br_if
		// address 72 holds the block
		constant(72) + constant64(1) + call(alloc) + "\x37\x03\x00" +
		constant(72) + "\x29\x03\x00" + load8(64) + call(storeByte) +
		constant(72) + "\x29\x03\x00" + constant64(1) + call(outputSet) + constant(0)
	return wasm{
		imports: []wasmImport{
			{"extism:host/env", "input_load_u8", i64, i32},
			{"extism:host/env", "alloc", i64, i64},
			{"extism:host/env", "store_u8", i64 + i32, ""},
			{"extism:host/env", "output_set", i64 + i64, ""},
			{"wasi_snapshot_preview1", "proc_exit", i32, ""},
		},
		funcs:  []wasmFunc{{"before_agent_reply", "", i32, body}},
		memory: []uint64{1},
	}
}
