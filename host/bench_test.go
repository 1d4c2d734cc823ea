package host_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

// The benchmarks of docs/performance.md. Times are taken by the fake vendor and
// by the reader, in one process; they hold the loopback network too.

// percentiles reports p50 and p99 of the times in microseconds.
func percentiles(b *testing.B, what string, times []time.Duration) {
	b.Helper()
	if len(times) == 0 {
		b.Fatal("nothing was measured")
	}
	slices.Sort(times)
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	b.ReportMetric(us(times[len(times)/2]), what+"-p50-µs")
	b.ReportMetric(us(times[len(times)*99/100]), what+"-p99-µs")
}

// benchHost starts a host on the openai-chat plugin, for a server with this
// handler.
func benchHost(b *testing.B, handler http.HandlerFunc) *host.Host {
	b.Helper()
	s := httptest.NewServer(handler)
	h := startBench(b, fmt.Sprintf(`
[agents.main]
model = "m"
[models.m]
provider = "p"
model = "m"
[providers.p]
plugin = "openai-chat"
base_url = "%s/v1"
api_keys = ["env:TEST_KEY"]
`, s.URL), "TEST_KEY=sk-test-0123456789")
	b.Cleanup(s.Close)
	return h
}

func startBench(b *testing.B, config string, env ...string) *host.Host {
	b.Helper()
	h, err := host.Start(b.Context(), host.Options{Home: newHome(b, config), Env: env, Version: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := h.Shutdown(); err != nil {
			b.Error(err)
		}
	})
	return h
}

// frame is a frame of a usual size, 210 bytes and more, whose text is the time.
func frame(text string) string {
	return `data: {"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion.chunk","created":1741569952,"model":"gpt-5-mini-2025-08-07","service_tier":"default","choices":[{"index":0,"delta":{"content":"` +
		text + `"},"finish_reason":null}]}` + "\n\n"
}

func put(w http.ResponseWriter, s string) {
	_, _ = io.WriteString(w, s)
	_ = http.NewResponseController(w).Flush()
}

// talk runs one turn and gives every event to see.
func talk(b *testing.B, h *host.Host, session, text string, see func(*journal.Event)) {
	b.Helper()
	ctx := b.Context()
	t, err := h.Send(ctx, turn.Message{Session: session, Surface: "bench", Text: text})
	if err != nil {
		b.Error(err)
		return
	}
	r, err := h.Events(ctx, t.ID, 0)
	for err == nil {
		var events []journal.Event
		events, err = r.Next(ctx)
		for i := range events {
			see(&events[i])
		}
	}
	if !errors.Is(err, io.EOF) {
		b.Error(err)
	}
}

// One quiet stream: from the moment the vendor writes a frame to the moment a
// reader has its text.
func BenchmarkFrameLatency(b *testing.B) {
	n := b.N + 200 // the first ones warm up
	h := benchHost(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range n {
			time.Sleep(2 * time.Millisecond)
			put(w, frame(strconv.FormatInt(time.Now().UnixNano(), 10)))
		}
		put(w, fin("stop")+doneSignal)
	})
	var times []time.Duration
	talk(b, h, "s", "go", func(e *journal.Event) {
		now := time.Now().UnixNano()
		if sent, err := strconv.ParseInt(e.Text, 10, 64); err == nil {
			times = append(times, time.Duration(now-sent))
		}
	})
	percentiles(b, "frame", times[min(200, len(times)-1):])
}

// 64 streams at once, each as fast as it goes.
func BenchmarkFrames64(b *testing.B) {
	const streams = 64
	each := b.N/streams + 1
	text := strings.Repeat(frame("word "), 8)
	h := benchHost(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range each/8 + 1 {
			put(w, text)
		}
		put(w, fin("stop")+doneSignal)
	})
	var seen atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	start := time.Now()
	for i := range streams {
		all.Go(func() {
			talk(b, h, fmt.Sprint(i), "go", func(e *journal.Event) {
				if e.Type == abi.EventText {
					seen.Add(1)
				}
			})
		})
	}
	all.Wait()
	b.ReportMetric(float64(seen.Load())/time.Since(start).Seconds(), "frames/s")
}

// Whole durable turns with demo, alone and in 64 sessions at once: answers of
// 20 frames. They cost the sandbox most, so a longer answer takes longer.
func BenchmarkTurns(b *testing.B) {
	for _, sessions := range []int{1, 64} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			h := startBench(b, "[providers.demo]\nplugin = \"demo\"\noptions = { delay_ms = 0 }\n[models.demo]\nprovider = \"demo\"\nmodel = \"demo\"\n[agents.main]\nmodel = \"demo\"\n")
			talk(b, h, "warm", "hello", func(*journal.Event) {})
			before := h.Journal().Stats()
			b.ResetTimer()
			start := time.Now()
			var all sync.WaitGroup
			for s := range sessions {
				all.Go(func() {
					for i := s; i < b.N; i += sessions {
						talk(b, h, fmt.Sprint(s), "/demo long 20", func(*journal.Event) {})
					}
				})
			}
			all.Wait()
			after := h.Journal().Stats()
			b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "turns/s")
			b.ReportMetric(float64(after.Syncs-before.Syncs)/float64(b.N), "syncs/turn")
		})
	}
}

// One turn alone: from admission to the request's arrival at the vendor, and
// from the last byte to the reader's end.
func BenchmarkTurnLatency(b *testing.B) {
	var arrived, last atomic.Int64
	h := benchHost(b, func(w http.ResponseWriter, r *http.Request) {
		arrived.Store(time.Now().UnixNano())
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		put(w, txt("Hi"))
		time.Sleep(5 * time.Millisecond)
		last.Store(time.Now().UnixNano())
		put(w, fin("stop")+doneSignal)
	})
	talk(b, h, "warm", "go", func(*journal.Event) {})
	var before, after []time.Duration
	b.ResetTimer()
	for i := range b.N {
		start := time.Now()
		talk(b, h, fmt.Sprint(i), "go", func(*journal.Event) {})
		after = append(after, time.Duration(time.Now().UnixNano()-last.Load()))
		before = append(before, time.Duration(arrived.Load()-start.UnixNano()))
	}
	percentiles(b, "to-request", before)
	percentiles(b, "last-byte", after)
}

// A request for a history of 1,000 messages and 400 KB: from admission to its
// arrival, second and later times.
func BenchmarkLongHistory(b *testing.B) {
	var arrived atomic.Int64
	long := strings.Repeat("word ", 160)
	h := benchHost(b, func(w http.ResponseWriter, r *http.Request) {
		arrived.Store(time.Now().UnixNano())
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		put(w, txt("ok")+fin("stop")+doneSignal)
	})
	for range 500 {
		talk(b, h, "s", long, func(*journal.Event) {})
	}
	var times []time.Duration
	b.ResetTimer()
	for range b.N {
		start := time.Now().UnixNano()
		talk(b, h, "s", "go on", func(*journal.Event) {})
		times = append(times, time.Duration(arrived.Load()-start))
	}
	percentiles(b, "to-request", times)
}

// The bytes that a reader gets for a reply of 4,000 frames, as JSON lines,
// against the text.
func BenchmarkReaderBytes(b *testing.B) {
	h := benchHost(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 4000 {
			_, _ = io.WriteString(w, frame("twenty characters ab"))
		}
		put(w, fin("stop")+doneSignal)
	})
	for range b.N {
		var text, given, lines int
		talk(b, h, "s", "go", func(e *journal.Event) {
			line, err := e.MarshalJSON()
			if err != nil {
				b.Fatal(err)
			}
			text += len(e.Text)
			given += len(e.Text)
			lines += len(line) + 1
		})
		b.ReportMetric(float64(given)/float64(text), "bytes/byte")
		b.ReportMetric(float64(lines)/float64(text), "json-bytes/byte")
	}
}
