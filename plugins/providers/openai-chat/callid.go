package main

// callIDLen is how long the ids of calls are. Mistral takes nine letters and
// digits and nothing else; OpenAI takes up to 40 characters of any kind, and the
// others do not care.
const callIDLen = 9

// callID makes such an id, the same for a call and its result. It is a hash
// (FNV-1a, 64 bits), of which nine digits of base 62 keep 53 bits.
func callID(id string) string {
	if isCallID(id) {
		return id
	}
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	h = (h ^ h>>32) * 0x9E3779B97F4A7C15 // so that the last letters reach every digit
	h ^= h >> 29
	var b [callIDLen]byte
	for i := range b {
		b[i] = digits[h%uint64(len(digits))]
		h /= uint64(len(digits))
	}
	return string(b[:])
}

func isCallID(id string) bool {
	for i := range len(id) {
		c := id[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if !letter {
			return false
		}
	}
	return len(id) == callIDLen
}
