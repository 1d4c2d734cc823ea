package jsonscan

// IndexByte returns the first place of c in b, -1 if there is none. It is
// bytes.IndexByte for guests: that one goes byte by byte there.
func IndexByte(b []byte, c byte) int {
	words := padded(b)
	for i := 0; i < len(b); i += 4 * wordLen {
		m0 := equal(word(words, i), c)
		m1 := equal(word(words, i+wordLen), c)
		m2 := equal(word(words, i+2*wordLen), c)
		m3 := equal(word(words, i+3*wordLen), c)
		if m0|m1|m2|m3 == 0 {
			continue
		}
		for _, m := range [...]uint64{m0, m1, m2, m3} {
			if m != 0 {
				i += leading(m)
				break
			}
			i += wordLen
		}
		if i < len(b) {
			return i
		}
		break // what was found are zeros behind the end
	}
	return -1
}

// equal finds the bytes of w that are c.
func equal(w uint64, c byte) uint64 {
	d := w ^ ones*uint64(c)
	return (d - ones) &^ d & highBits
}
