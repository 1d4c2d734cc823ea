package egress

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"sync"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/secret"
)

// Response is a response whose head has arrived. Either Body or Frames reads
// the body, in one goroutine; Close may be called from any, at any time, also
// to end a read.
type Response struct {
	// Status is the HTTP status code.
	Status int
	// Headers are the header fields, sorted by name; names are in lower case.
	Headers []abi.Header
	// URL is the address that the request went to, without its query. Where it
	// held a secret, it shows the placeholder.
	URL string

	place
	watch    *watch
	redactor *secret.Redactor
	raw      io.ReadCloser // the body as it arrives
	body     io.Reader     // the body with the clocks running, decompressed
	sent     *pieces       // the request's body, or nil
	unread   []byte        // read by Frames, but left to Body
	once     sync.Once
}

// Header returns the value of the first header field with that name, which is
// in lower case, or "".
func (r *Response) Header(name string) string {
	for _, h := range r.Headers {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}

// MediaType returns the media type of the Content-Type header in lower case,
// without parameters; "" if there is none.
func (r *Response) MediaType() string {
	// An error may be in a parameter; the type is returned all the same.
	media, _, _ := mime.ParseMediaType(r.Header("content-type"))
	return media
}

// Body reads the whole body, decompressed and without secrets. At most limit
// bytes are returned, and never more than MaxResponse. The error is an *Error;
// what was read up to it is returned as well. Over the limit it is of class
// server and wraps ErrTooLarge. After an error or the end the response is
// closed.
func (r *Response) Body(limit int64) ([]byte, error) {
	limit = min(limit, MaxResponse)
	// Some bytes more, so that no secret is cut in two at the limit.
	margin := int64(r.redactor.Longest())
	from := io.MultiReader(bytes.NewReader(r.unread), r.body)
	b, err := io.ReadAll(io.LimitReader(from, limit+margin+1))
	over := int64(len(b)) > limit
	if over || err != nil {
		b = r.redactor.Cut(b)
	} else {
		b = r.redactor.Bytes(b)
	}
	b = b[:min(int64(len(b)), limit)]
	switch {
	case err != nil:
		err = r.broken(err)
	case over:
		err = r.tooLarge("body", limit)
	case bytes.HasPrefix(b, []byte(gzipMagic)):
		err = r.unusable("it is compressed without saying so", nil)
	}
	_ = r.Close()
	return b, err
}

// Close ends the response: the connection is closed at once, unless the body
// was read to its end. It may be called several times and returns nil.
func (r *Response) Close() error {
	r.once.Do(func() {
		r.watch.cancel(ErrClosed)
		r.sent.stop()
		_ = r.raw.Close() // there is nothing to do about it
	})
	return nil
}

// timedReader reads the body as it arrives, with the clocks running.
type timedReader struct{ r *Response }

// Read returns an *Error for anything but the end.
func (t *timedReader) Read(p []byte) (int, error) {
	n, err := t.r.watch.read(t.r.raw, p)
	if err == nil || err == io.EOF { //nolint:errorlint // io.Reader's contract
		return n, err
	}
	return n, t.r.cut(err)
}

// cut is the error of a body that does not come to its end.
func (r *Response) cut(err error) *Error {
	if cause := r.watch.cause(); cause != nil {
		return r.ended(cause, true)
	}
	why := err.Error()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		why = "connection closed"
	}
	return &Error{
		Class: abi.FailureTruncated, Sent: true, Err: clean(err, r.redactor),
		Msg: line(r.redactor, "answer from "+r.url+" was cut off", why, ""),
	}
}

// broken makes an *Error of what reading the decompressed body gave.
func (r *Response) broken(err error) *Error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return r.cut(io.ErrUnexpectedEOF) // within the compressed data
	}
	return r.unusable("", err)
}

// unusable is the error of an answer that came but cannot be understood.
func (r *Response) unusable(why string, err error) *Error {
	out := &Error{Class: abi.FailureServer, Sent: true, Err: err}
	if err != nil && why == "" {
		why = err.Error()
	}
	out.Msg = line(r.redactor, "answer from "+r.url+" cannot be used", why, "")
	return out
}

// tooLarge is the error of what is over its limit, in bytes.
func (r *Response) tooLarge(what string, limit int64) *Error {
	return r.unusable("its "+what+" is larger than "+size(limit), ErrTooLarge)
}

func sortedNames(header http.Header) []string {
	return slices.Sorted(maps.Keys(header))
}
