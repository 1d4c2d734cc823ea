package egress

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
)

// Play returns the response that a script describes, as if a server had sent
// it: the same framing, limits and clocks, without a network. The error is an
// *Error.
func Play(ctx context.Context, script *abi.Script, clocks Clocks) (*Response, error) {
	ctx, w := newWatch(ctx, clocks)
	w.head()
	where := place{url: "script:", baseURL: "script:"}
	if cause := w.cause(); cause != nil {
		w.cancel(ErrClosed)
		return nil, where.ended(cause, false)
	}
	r := &Response{
		Status: int(script.Status),
		URL:    where.url,
		place:  where,
		watch:  w,
		raw:    &scripted{ended: ctx.Done(), pieces: script.Pieces, end: script.End},
	}
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	for _, h := range script.Headers {
		r.Headers = append(r.Headers, abi.Header{Name: strings.ToLower(h.Name), Value: h.Value})
	}
	slices.SortStableFunc(r.Headers, func(a, b abi.Header) int { return strings.Compare(a.Name, b.Name) })
	r.body = decode(&timedReader{r}, r.Headers)
	return r, nil
}

// scripted is the body of a script.
type scripted struct {
	ended  <-chan struct{} // the response's context
	pieces []abi.Piece
	end    abi.ScriptEnd
	data   string // of the piece that is being read
}

// Read waits as the script says, in the caller's goroutine.
func (s *scripted) Read(p []byte) (int, error) {
	for s.data == "" && len(s.pieces) > 0 {
		piece := s.pieces[0]
		if !s.wait(piece.DelayMS) {
			return 0, ErrClosed
		}
		s.data, s.pieces = piece.Data, s.pieces[1:]
	}
	if s.data != "" {
		n := copy(p, s.data)
		s.data = s.data[n:]
		return n, nil
	}
	switch s.end {
	case abi.ScriptEndCut:
		return 0, io.ErrUnexpectedEOF
	case abi.ScriptEndSilence:
		<-s.ended
		return 0, ErrClosed
	case abi.ScriptEndClean, "":
		return 0, io.EOF
	}
	return 0, io.EOF
}

// wait returns false if the response ended meanwhile.
func (s *scripted) wait(ms int64) bool {
	// A day is longer than any clock, and no overflow.
	delay := time.Duration(min(max(ms, 0), 24*60*60*1000)) * time.Millisecond
	if delay == 0 {
		select {
		case <-s.ended:
			return false
		default:
			return true
		}
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-s.ended:
		return false
	case <-timer.C:
		return true
	}
}

// Close does nothing: the context's end, which goes with it, ends a Read.
func (s *scripted) Close() error { return nil }
