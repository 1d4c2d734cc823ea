package mcp

import (
	"context"
	"sync/atomic"
)

// mark is what the transports note about one call, for only they know whether
// it has left the host. A nil mark notes nothing.
type mark struct {
	sent   atomic.Bool
	status atomic.Int32 // of HTTP; 0 if there is none
}

type markKey struct{}

// withMark returns a context whose requests are noted in m.
func withMark(ctx context.Context, m *mark) context.Context {
	return context.WithValue(ctx, markKey{}, m)
}

func markOf(ctx context.Context) *mark {
	m, _ := ctx.Value(markKey{}).(*mark)
	return m
}

// sending notes that the first byte is about to leave.
func (m *mark) sending() {
	if m != nil {
		m.sent.Store(true)
	}
}

// unsent takes that back: nobody was there to take it.
func (m *mark) unsent() {
	if m != nil {
		m.sent.Store(false)
	}
}

// answered notes the status of an HTTP response.
func (m *mark) answered(status int) {
	if m != nil {
		m.status.Store(int32(status)) //nolint:gosec // three digits
	}
}
