package jsonscan

import "math/bits"

// Eight bytes in one word, the first byte lowest. The masks below have the high
// bit of a byte set where the byte is looked for. A mask may have further bits
// set above the first hit, never below it: only leading may be asked.
const (
	wordLen  = 8
	ones     = 0x0101010101010101
	highBits = 0x80 * ones
)

// word returns the eight bytes from i on; behind the end they are 0. There are at
// least eight bytes in b. Near the end it reads the last eight bytes and moves
// what is wanted to the front; beyond says by how much, and is 0 elsewhere, so
// that this takes no jump.
func word(b []byte, i int) uint64 {
	beyond := i - (len(b) - wordLen)
	beyond &^= beyond >> (bits.UintSize - 1)
	return load(b, i-beyond) >> uint(8*beyond)
}

// stops finds what ends a run of plain bytes in a string: a quote, a backslash
// or a control character, which is also what word gives behind the end.
func stops(w uint64) uint64 {
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & highBits
}

// notDigit finds what is not a decimal digit.
func notDigit(w uint64) uint64 {
	d := w ^ ones*'0'
	return (d&^highBits + ones*(0x80-10) | d) & highBits
}

// leading counts the bytes in front of the first hit of a mask, 8 if there is
// none.
func leading(mask uint64) int { return bits.TrailingZeros64(mask) >> 3 }

// plainRun returns the first place from i on that ends a run of plain bytes. The
// bytes of the run are all ASCII unless high has one of highBits.
func plainRun(b []byte, i int) (end int, high uint64) {
	w := word(b, i)
	m := stops(w)
	if m == 0 { // most strings have less than 24 bytes, and need no loop
		high = w
		i += wordLen
		w = word(b, i)
		m = stops(w)
		if m == 0 {
			high |= w
			i += wordLen
			w = word(b, i)
			for m = stops(w); m == 0; m = stops(w) {
				high |= w
				i += wordLen
				w = word(b, i)
			}
		}
	}
	n := leading(m)
	return i + n, high | w&(1<<uint(8*n)-1)
}
