package jsonscan

import "math/bits"

// Eight bytes in one word, the first byte lowest. The masks below have the high
// bit of a byte set where the byte is looked for. A mask may have further bits
// set above the first hit, never below it: only leading may be asked.
const (
	ones     = 0x0101010101010101
	highBits = 0x80 * ones
)

// word returns the eight bytes of b from i on; behind the end they are 0.
func word[T ~string | ~[]byte](b T, i int) uint64 {
	if i+8 <= len(b) {
		b := b[i : i+8]
		return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
	}
	return lastWord(b, i)
}

// lastWord is word for the last bytes.
func lastWord[T ~string | ~[]byte](b T, i int) uint64 {
	if i >= len(b) {
		return 0
	}
	if len(b) >= 8 {
		return word(b, len(b)-8) >> (8 * (i + 8 - len(b)))
	}
	var w uint64
	for n := len(b) - 1; n >= i; n-- {
		w = w<<8 | uint64(b[n])
	}
	return w
}

// stops finds what ends a run of plain bytes in a string: a quote, a backslash
// or a control character, which is also what word puts behind the end.
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
