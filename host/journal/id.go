package journal

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"time"
)

// newID returns prefix, 48 bits of Unix milliseconds and 80 random bits, as
// letters and digits that sort by time.
func newID(prefix string, now time.Time) string {
	const alphabet = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's: no i, l, o, u
	var b [18]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli()))
	_, _ = rand.Read(b[8:]) // crypto/rand never fails
	return prefix + base32.NewEncoding(alphabet).WithPadding(base32.NoPadding).EncodeToString(b[2:])
}
