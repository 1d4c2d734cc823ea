package provider

import (
	"context"

	"github.com/zchost/zchost/host/reliability"
)

// Own returns the messages as the endpoint's provider may be shown them.
func (e *Endpoint) Own(messages []*reliability.Message) []*reliability.Message {
	return e.own(messages)
}

// Attach puts attachments into fragments.
func (e *Endpoint) Attach(ctx context.Context, messages []*reliability.Message, fragments [][]byte) ([][]byte, error) {
	return e.attach(ctx, messages, fragments)
}
