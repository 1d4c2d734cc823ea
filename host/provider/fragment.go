package provider

import (
	"container/list"
	"context"
	"encoding/json"
	"sync"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/reliability"
)

// Fragments keeps the wire JSON of messages, by the fingerprint of the plugin
// that rendered them and the hash of their contents. The least recently used
// are dropped when there are more than the limit of bytes. It is safe for
// concurrent use.
type Fragments struct {
	mu    sync.Mutex
	limit int
	size  int
	byKey map[fragmentKey]*list.Element
	order *list.List // of *fragment, the latest used first
}

type fragmentKey struct {
	plugin string
	hash   [32]byte
}

type fragment struct {
	key  fragmentKey
	text []byte
}

// fragmentCost is what an entry takes besides its text, in bytes.
const fragmentCost = 200

// NewFragments returns a cache of at most limit bytes.
func NewFragments(limit int) *Fragments {
	return &Fragments{limit: limit, byKey: make(map[fragmentKey]*list.Element), order: list.New()}
}

// get returns the fragment, nil if it is not there.
func (f *Fragments) get(k fragmentKey) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.byKey[k]
	if e == nil {
		return nil
	}
	f.order.MoveToFront(e)
	return entry(e).text
}

func (f *Fragments) put(k fragmentKey, text []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byKey[k] != nil {
		return
	}
	f.byKey[k] = f.order.PushFront(&fragment{key: k, text: text})
	f.size += len(text) + fragmentCost
	for f.size > f.limit && f.order.Len() > 1 {
		old := f.order.Back()
		f.order.Remove(old)
		delete(f.byKey, entry(old).key)
		f.size -= len(entry(old).text) + fragmentCost
	}
}

func entry(e *list.Element) *fragment {
	f, _ := e.Value.(*fragment) // nothing else is put in
	return f
}

// fragments returns the wire JSON of each message. The plugin renders those
// that are new, all in one call.
func (e *Endpoint) fragments(ctx context.Context, messages []*reliability.Message) ([][]byte, error) {
	out := make([][]byte, len(messages))
	var missing []int
	for i, m := range messages {
		if out[i] = e.Fragments.get(e.key(m)); out[i] == nil {
			missing = append(missing, i)
		}
	}
	for len(missing) > 0 {
		n := batch(messages, missing)
		if err := e.render(ctx, messages, missing[:n], out); err != nil {
			return nil, err
		}
		missing = missing[n:]
	}
	return out, nil
}

// batch returns how many of the missing messages go into one call: as many as
// have about 256 KiB, so that a long history stays within the call's deadline.
func batch(messages []*reliability.Message, missing []int) int {
	size := 0
	for n, i := range missing {
		for _, p := range messages[i].Parts {
			size += len(p.Text) + len(p.Arguments) + len(p.Signature) + len(p.Opaque)
		}
		if size > 256<<10 && n > 0 {
			return n
		}
	}
	return len(missing)
}

func (e *Endpoint) render(ctx context.Context, messages []*reliability.Message, missing []int, out [][]byte) error {
	in := abi.ChatMessages{Options: e.Options, Messages: make([]abi.Message, len(missing))}
	for n, i := range missing {
		in.Messages[n] = messages[i].Message
	}
	doc, err := e.Plugin.Call(ctx, abi.ExportChatMessages, in.AppendJSON(nil))
	if err != nil {
		return err
	}
	var got abi.ChatFragments
	if err := got.DecodeJSON(doc); err != nil {
		return e.junk(ctx, abi.ExportChatMessages, "decode output: %w", err)
	}
	if len(got.Fragments) != len(missing) {
		return e.junk(ctx, abi.ExportChatMessages, "%d fragments for %d messages", len(got.Fragments), len(missing))
	}
	for n, i := range missing {
		text := []byte(got.Fragments[n])
		if !json.Valid(append(append([]byte{'['}, text...), ']')) || len(text) == 0 {
			return e.junk(ctx, abi.ExportChatMessages, "fragment %d is not JSON", n)
		}
		e.Fragments.put(e.key(messages[i]), text)
		out[i] = text
	}
	return nil
}

func (e *Endpoint) key(m *reliability.Message) fragmentKey {
	return fragmentKey{plugin: e.Config.Fingerprint, hash: m.Hash}
}
