package plugin

import (
	"math/rand/v2"
)

// world is what an instance without grants reads from outside itself. The same
// call sees the same world on any instance, so that a plugin without the
// capabilities clock and random is deterministic.
type world struct {
	random stillRandom
	stderr head
	ticks  int64
}

// reset is called before each call.
func (w *world) reset() {
	w.random.reset()
	w.stderr.reset()
}

// stillWalltime is always the beginning of 2022.
func stillWalltime() (sec int64, nsec int32) { return 1640995200, 0 }

// nanotime never goes back and hardly goes on: Go's scheduler and garbage
// collector divide by the time between two readings.
func (w *world) nanotime() int64 {
	w.ticks++
	return w.ticks
}

// stillRandom is the same sequence in each call.
type stillRandom struct{ source *rand.ChaCha8 }

func (r *stillRandom) reset() {
	if r.source != nil {
		r.source.Seed(stillSeed())
	}
}

// Read implements io.Reader.
func (r *stillRandom) Read(p []byte) (int, error) {
	if r.source == nil {
		r.source = rand.NewChaCha8(stillSeed())
	}
	return r.source.Read(p)
}

func stillSeed() [32]byte { return [32]byte([]byte("zchost: the same in every call..")) }

// maxStderr is how much of what a guest writes to stderr is kept, in bytes.
const maxStderr = 4 << 10

// head keeps the beginning of what is written to it, which is where a runtime
// says why it dies; the rest is dropped.
type head struct{ kept []byte }

func (h *head) reset() { h.kept = h.kept[:0] }

// Write implements io.Writer; it never fails.
func (h *head) Write(p []byte) (int, error) {
	h.kept = append(h.kept, p[:min(len(p), maxStderr-len(h.kept))]...)
	return len(p), nil
}

func (h *head) String() string { return string(h.kept) }
