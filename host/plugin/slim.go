package plugin

import "encoding/binary"

// maxGap is the longest run of zeros, in bytes, that is written out between two
// data segments to make them one.
const maxGap = 64

// slim returns the binary with what running it does not need taken away. What
// wazero keeps of a module stays in memory as long as the plugin is loaded, and
// a second time in each instance:
//
//   - custom sections hold names and debug information;
//   - the Go linker writes a data segment for every few bytes that are not
//     zero, some ten thousand in a module of 2 MB, and each costs 120 bytes
//     beyond its contents.
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

// mergeData joins the segments of a data section that follow each other with
// less than maxGap zeros between them. A section that holds anything but
// segments at constant addresses in rising order is returned as it is.
func mergeData(data []byte) []byte {
	var (
		r     = reader{b: data}
		left  = r.u32()
		count uint64
		body  = make([]byte, 0, len(data))
		start uint32 // address of the open segment
		open  = make([]byte, 0, len(data))
	)
	flush := func() {
		body = append(body, 0, 0x41) // active, i32.const
		body = appendS32(body, int32(start))
		body = append(body, 0x0b) // end
		body = binary.AppendUvarint(body, uint64(len(open)))
		body = append(body, open...)
		count++
	}
	for ; left > 0; left-- {
		at, piece, ok := r.segment()
		end := uint64(start) + uint64(len(open))
		if !ok || len(piece) == 0 || (len(open) > 0 && uint64(at) < end) {
			return data
		}
		switch gap := uint64(at) - end; {
		case len(open) == 0:
			start = at
		case gap > maxGap:
			flush()
			start, open = at, open[:0]
		default:
			open = append(open, make([]byte, gap)...)
		}
		open = append(open, piece...)
	}
	if r.err != nil || len(r.b) > 0 {
		return data
	}
	if len(open) > 0 {
		flush()
	}
	return append(binary.AppendUvarint(nil, count), body...)
}

// segment reads one data segment; ok is false unless it is copied to a constant
// address.
func (r *reader) segment() (at uint32, data []byte, ok bool) {
	if r.u32() != 0 || r.byte() != 0x41 {
		return 0, nil, false
	}
	address := r.s32()
	if r.byte() != 0x0b {
		return 0, nil, false
	}
	data = r.bytes(r.u32())
	return uint32(address), data, r.err == nil
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
			return int32(v)
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
