package sink_test

import (
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/zchost/zchost/host/sink"
)

// BenchmarkAppend is the cost of one delta, alone and with a reader that waits
// for each.
func BenchmarkAppend(b *testing.B) {
	b.Run("no reader", func(b *testing.B) { benchAppend(b, 1, 0) })
	b.Run("reader", func(b *testing.B) { benchAppend(b, 1, 1) })
	b.Run("64 streams with a reader each", func(b *testing.B) { benchAppend(b, 64, 1) })
}

// benchAppend appends b.N frames to some streams, all journaled and read.
func benchAppend(b *testing.B, streams, readers int) {
	b.Helper()
	f := setup(b)
	sinks := make([]*sink.Sink, streams)
	var work, read sync.WaitGroup
	for i := range sinks {
		sinks[i] = f.hub.Open(f.admit(b))
		for range readers {
			r := sinks[i].Reader(0)
			read.Go(func() {
				for {
					if _, err := r.Next(b.Context()); err != nil {
						if !errors.Is(err, io.EOF) {
							b.Error(err)
						}
						return
					}
				}
			})
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for _, s := range sinks {
		work.Go(func() {
			for range b.N/streams + 1 {
				if err := s.Append(b.Context(), 1, text(" token")); err != nil {
					b.Error(err)
					return
				}
			}
			if err := finish(b.Context(), s); err != nil {
				b.Error(err)
			}
		})
	}
	work.Wait()
	read.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

// BenchmarkLatency is the time from Append to a waiting reader, one quiet
// stream.
func BenchmarkLatency(b *testing.B) {
	f := setup(b)
	s := f.hub.Open(f.admit(b))
	r := s.Reader(0)
	got := make(chan time.Time)
	go func() {
		defer close(got)
		for {
			if _, err := r.Next(b.Context()); err != nil {
				return
			}
			got <- time.Now()
		}
	}()
	if err := s.Append(b.Context(), 1, text("first")); err != nil {
		b.Fatal(err)
	}
	<-got
	times := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		if err := s.Append(b.Context(), 1, text(" token")); err != nil {
			b.Fatal(err)
		}
		times = append(times, (<-got).Sub(began))
	}
	if err := finish(b.Context(), s); err != nil {
		b.Fatal(err)
	}
	for range got {
		continue
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1000, "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1000, "p99-µs")
}
