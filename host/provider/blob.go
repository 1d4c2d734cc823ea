package provider

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/reliability"
)

// maxBlobs bounds the attachments of one request, in bytes before base64. The
// oldest beyond it are refused, so that the person is told.
const maxBlobs = 64 << 20

// attach puts the contents of images and files into the fragments of the
// messages that have them: each {{blob:ID}} becomes base64. Only the ids of the
// message's own parts are looked for, so what a person writes is no template.
func (e *Endpoint) attach(ctx context.Context, messages []*reliability.Message, fragments [][]byte) ([][]byte, error) {
	size := 0
	for i, m := range messages {
		for _, p := range m.Parts {
			placeholder := []byte("{{blob:" + p.Blob + "}}")
			if p.Blob == "" || !bytes.Contains(fragments[i], placeholder) {
				continue
			}
			data, err := e.Blob(ctx, p.Blob)
			if err != nil {
				return nil, fmt.Errorf("read attachment %q: %w", p.Name, err)
			}
			if size += len(data); size > maxBlobs {
				return nil, &abi.Failure{
					Class:   abi.FailureContextOverflow,
					Message: fmt.Sprintf("the conversation's attachments are over %d MiB", maxBlobs>>20),
				}
			}
			text := []byte(base64.StdEncoding.EncodeToString(data))
			fragments[i] = bytes.ReplaceAll(fragments[i], placeholder, text)
		}
	}
	return fragments, nil
}
