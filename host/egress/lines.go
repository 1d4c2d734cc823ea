package egress

import "bytes"

const (
	firstBuffer = 16 << 10
	minRead     = 4 << 10
	maxRead     = 64 << 10
	bom         = "\xEF\xBB\xBF"
)

// lines cuts what has arrived into lines, without waiting for what has not: a
// CR ends its line at once, and an LF that follows it, even in a later read,
// is taken for its second half.
type lines struct {
	bareCR bool // a CR ends a line, not only an LF

	buf    []byte
	start  int  // buf[start:end] is not cut yet
	scan   int  // buf[start:scan] holds no end of line
	end    int  //
	lf     int  // the first LF at or after scan, or end; before scan if unknown
	skipLF bool // the line before ended in CR
}

// room returns space to read into. Lines that were returned are gone.
func (l *lines) room() []byte {
	if l.start > 0 {
		copy(l.buf, l.buf[l.start:l.end])
		l.scan -= l.start
		l.end -= l.start
		l.start = 0
	}
	if len(l.buf)-l.end < minRead {
		grown := make([]byte, max(firstBuffer, 2*len(l.buf)))
		copy(grown, l.buf[:l.end])
		l.buf = grown
	}
	return l.buf[l.end:min(len(l.buf), l.end+maxRead)]
}

// add says that n bytes were read into the room.
func (l *lines) add(n int) {
	l.end += n
	l.lf = -1
}

// next returns the next line that has ended, without its end. It stays valid
// until room is called.
func (l *lines) next() (line []byte, ok bool) {
	if l.skipLF && l.start < l.end {
		l.skipLF = false
		if l.buf[l.start] == '\n' {
			l.start++
			l.scan++
		}
	}
	if l.lf < l.scan {
		// Kept, since otherwise each of many lines that end in CR would look
		// through all that follows.
		l.lf = l.end
		if i := bytes.IndexByte(l.buf[l.scan:l.end], '\n'); i >= 0 {
			l.lf = l.scan + i
		}
	}
	at := l.lf
	if l.bareCR {
		if i := bytes.IndexByte(l.buf[l.scan:at], '\r'); i >= 0 {
			at = l.scan + i
			l.skipLF = true
		}
	}
	if at == l.end {
		l.scan = l.end
		return nil, false
	}
	line = l.buf[l.start:at]
	l.start, l.scan = at+1, at+1
	return line, true
}

// rest returns what follows the last line that has ended.
func (l *lines) rest() []byte { return l.buf[l.start:l.end] }

// skip passes over n bytes of the rest, which hold no end of line.
func (l *lines) skip(n int) {
	l.start += n
	l.scan = max(l.scan, l.start)
}
