package plugin

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// maxGap is the longest run of zeros, in bytes, that is written out between two
// data segments to make them one.
const maxGap = 32

// slim returns the binary with what running it does not need taken away. What
// wazero keeps of a module stays in memory as long as the plugin is loaded, and
// a second time in each instance:
//
//   - custom sections hold names and debug information;
//   - the Go linker writes a data segment for every few bytes that are not
//     zero: 32,000 in a module of 2.7 MB, which cost 2 MB beyond their
//     contents, and 0.8 MB in each instance.
//
// The result behaves exactly as the original. The fingerprint is taken over the
// original.
func (m *module) slim() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	counted := false
	for _, s := range m.sections {
		counted = counted || s.id == sectionDataCount
	}
	for _, s := range m.sections {
		data := s.data
		switch {
		case s.id == sectionCustom:
			continue
		case s.id == sectionData && !counted && m.ownMemory():
			// With a data count the code may name segments by number.
			data = mergeData(data)
		}
		out = append(out, s.id)
		out = binary.AppendUvarint(out, uint64(len(data)))
		out = append(out, data...)
	}
	return out
}

// ownMemory reports whether the module's memory is its own and so all zero when
// the data segments are copied into it.
func (m *module) ownMemory() bool {
	for _, i := range m.imports {
		if i.kind == externMemory {
			return false
		}
	}
	return true
}

// mergeData joins the segments of a data section that follow each other with at
// most maxGap zeros between them. A section that holds anything but segments at
// constant addresses that do not overlap is returned as it is.
func mergeData(data []byte) []byte {
	r := reader{b: data}
	var merged []segment
	var open segment
	for left := r.u32(); left > 0; left-- {
		next, ok := r.segment()
		if !ok || len(next.data) == 0 {
			return data
		}
		switch gap := int64(next.at) - open.end(); {
		case len(open.data) > 0 && gap >= 0 && gap <= maxGap:
			open.data = append(open.data, make([]byte, gap)...)
			open.data = append(open.data, next.data...)
		case len(open.data) > 0:
			merged = append(merged, open)
			fallthrough
		default:
			open = segment{next.at, bytes.Clone(next.data)}
		}
	}
	if len(open.data) > 0 {
		merged = append(merged, open)
	}
	if r.err != nil || len(r.b) > 0 || overlap(merged) {
		return data
	}
	return encodeData(merged, len(data))
}

// overlap reports whether two segments share an address. Then the order in which
// they are copied matters, zeros between them included.
func overlap(segments []segment) bool {
	sorted := slices.Clone(segments)
	slices.SortFunc(sorted, func(a, b segment) int { return cmp.Compare(a.at, b.at) })
	for n := 1; n < len(sorted); n++ {
		if int64(sorted[n].at) < sorted[n-1].end() {
			return true
		}
	}
	return false
}

func encodeData(segments []segment, size int) []byte {
	out := binary.AppendUvarint(make([]byte, 0, size), uint64(len(segments)))
	for _, s := range segments {
		out = append(out, 0, 0x41)        // active, i32.const
		out = appendS32(out, int32(s.at)) //nolint:gosec // the bits are the address
		out = append(out, 0x0b)           // end
		out = binary.AppendUvarint(out, uint64(len(s.data)))
		out = append(out, s.data...)
	}
	return out
}

// segment is bytes that are copied to a constant address before the start.
type segment struct {
	at   uint32
	data []byte
}

func (s segment) end() int64 { return int64(s.at) + int64(len(s.data)) }

// segment reads one data segment; ok is false for any other kind.
func (r *reader) segment() (s segment, ok bool) {
	if r.u32() != 0 || r.byte() != 0x41 {
		return segment{}, false
	}
	address := r.s32()
	if r.byte() != 0x0b {
		return segment{}, false
	}
	data := r.bytes(r.u32())
	return segment{uint32(address), data}, r.err == nil //nolint:gosec // the bits are the address
}

// s32 reads a signed LEB128 number of 32 bits.
func (r *reader) s32() int32 {
	var v int64
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return int32(v) //nolint:gosec // what does not fit is cut off, as wazero refuses it
		}
	}
	r.fail("a number is too long")
	return 0
}

func appendS32(b []byte, v int32) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && c&0x40 == 0) || (v == -1 && c&0x40 != 0) {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
