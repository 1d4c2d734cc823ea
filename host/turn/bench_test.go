package turn_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/sink"
	"github.com/zchost/zchost/host/tool"
	"github.com/zchost/zchost/host/turn"
)

// BenchmarkToolTurn is a turn of three iterations, the first two with two tool
// calls each, with a model and tools that take no time: what is left is the
// host's own, the journal at FULL included. "write" runs them one after the
// other.
func BenchmarkToolTurn(b *testing.B) {
	for _, effect := range []abi.Effect{abi.EffectRead, abi.EffectWrite} {
		b.Run(string(effect), func(b *testing.B) {
			j, err := journal.Open(b.Context(), filepath.Join(b.TempDir(), "journal.db"), journal.Options{Version: "bench"})
			if err != nil {
				b.Fatal(err)
			}
			var n atomic.Int64
			m := &model{answer: func(context.Context, string) ([]abi.Event, error) {
				k := n.Add(1)
				if k%3 == 0 {
					return say("done"), nil
				}
				return append([]abi.Event{{Type: abi.EventText, Text: "look"}}, use("a", fmt.Sprintf(`{"x":"%d"}`, k), "b", `{"x":"2"}`)...), nil
			}}
			s := &setup{journal: j, hub: sink.NewHub(j), model: m}
			set, err := tool.NewSet([]tool.Tool{fake{"a", effect, ok("one")}, fake{"b", effect, ok("two")}})
			if err != nil {
				b.Fatal(err)
			}
			s.agent.Tools = func(context.Context) (*tool.Set, []string) { return set, nil }
			s.agent.Approve = turn.ApproveNever
			s.Engine = turn.New(j, s.hub, s, hclog.NewNullLogger())
			for i := 0; b.Loop(); i++ {
				got, _, err := s.Submit(b.Context(), turn.Message{Session: fmt.Sprint(i), Text: "go"})
				if err != nil {
					b.Fatal(err)
				}
				if got, err = s.Wait(b.Context(), got.ID); err != nil || got.State != journal.Complete {
					b.Fatal(got.State, err)
				}
			}
			ctx := context.WithoutCancel(b.Context())
			if err := s.Close(ctx); err != nil {
				b.Fatal(err)
			}
			if err := j.Close(ctx); err != nil {
				b.Fatal(err)
			}
			s.hub.Close()
		})
	}
}
