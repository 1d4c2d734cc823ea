package egress_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/secret"
)

const oneFrame = `data: {"id":"chatcmpl-9xYz","object":"chat.completion.chunk","created":1700000000,"model":"gpt","choices":[{"index":0,"delta":{"content":" hello"},"finish_reason":null}]}` + "\n\n"

// BenchmarkFrames is the time for one frame of 170 bytes, when each arrives
// alone and when 64 arrive together.
func BenchmarkFrames(b *testing.B) {
	for name, together := range map[string]int{"alone": 1, "64 together": 64} {
		b.Run(name, func(b *testing.B) {
			piece := abi.Piece{Data: strings.Repeat(oneFrame, together)}
			script := &abi.Script{Pieces: make([]abi.Piece, 8192/together)}
			for i := range script.Pieces {
				script.Pieces[i] = piece
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(oneFrame)))
			var frames *egress.Frames
			for n := 0; n < b.N; {
				if frames == nil {
					resp, err := egress.Play(b.Context(), script, egress.Clocks{})
					if err != nil {
						b.Fatal(err)
					}
					frames = resp.Frames(abi.FramingSSE)
				}
				list, err := frames.Next()
				if n += len(list); err == io.EOF { //nolint:errorlint // io.EOF itself
					frames = nil
				} else if err != nil {
					b.Fatal(err)
				}
				if frames != nil {
					frames.Progress()
				}
			}
		})
	}
}

// BenchmarkFrameOverLoopback is the time from writing a frame to a socket until
// Next returns it, a secret being known.
func BenchmarkFrameOverLoopback(b *testing.B) {
	next := make(chan struct{})
	base := raw(b, func(conn net.Conn) {
		for write(conn, head); ; {
			if _, ok := <-next; !ok || !write(conn, chunk(oneFrame)) {
				return
			}
		}
	})
	redactor := secret.NewRedactor()
	redactor.Add(secret.New(key))
	c := egress.New(egress.Options{Redactor: redactor})
	defer c.Close()
	resp, err := get(b, c, base)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Close()
	defer close(next)
	frames := resp.Frames(abi.FramingSSE)
	b.ReportAllocs()
	for b.Loop() {
		next <- struct{}{}
		if _, err := frames.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSend is a whole request with a body of 400 KB on a connection that
// is used again.
func BenchmarkSend(b *testing.B) {
	vendor := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer vendor.Close()
	server := vendor.URL
	c := egress.New(egress.Options{})
	defer c.Close()
	body := [][]byte{[]byte("{"), make([]byte, 400_000), []byte("}")}
	b.ReportAllocs()
	for b.Loop() {
		resp, err := c.Send(b.Context(), egress.Endpoint{BaseURL: server, Secrets: secrets()}, egress.Request{
			URL: server + "/v1/chat", Body: body, Headers: []abi.Header{{Name: "Authorization", Value: "Bearer {{secret:api_key}}"}},
		})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := resp.Body(1 << 20); err != nil {
			b.Fatal(err)
		}
	}
}
