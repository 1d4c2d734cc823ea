package egress

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/zchost/zchost/abi"
)

const gzipMagic = "\x1f\x8b"

// decode returns the body decompressed as the response's headers say. The host
// asks for none of this, but some servers do it all the same. What is in one
// flush of the server's comes out at once.
func decode(body io.Reader, headers []abi.Header) io.Reader {
	zipped := false
	for _, encoding := range encodings(headers) {
		switch encoding {
		case "", "identity":
		case "gzip", "x-gzip":
			if zipped { // nobody does so but to fill our memory
				return failing{errors.New("it is compressed twice over")}
			}
			zipped = true
			body = &gunzip{from: body}
		default:
			return failing{fmt.Errorf("it is encoded as %.20q, which was not asked for", encoding)}
		}
	}
	return body
}

func encodings(headers []abi.Header) []string {
	var list []string
	for _, h := range headers {
		if h.Name == "content-encoding" {
			for encoding := range strings.SplitSeq(h.Value, ",") {
				list = append(list, strings.ToLower(strings.TrimSpace(encoding)))
			}
		}
	}
	return list
}

// gunzip decompresses from its first Read on, since gzip.NewReader waits for
// the first bytes.
type gunzip struct {
	from io.Reader
	zip  *gzip.Reader
	err  error
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	if g.zip == nil {
		if g.zip, g.err = gzip.NewReader(g.from); g.err != nil {
			return 0, g.err // io.EOF for a body without a byte
		}
	}
	return g.zip.Read(p)
}

// failing is a body that cannot be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// size writes a number of bytes for a person.
func size(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
