package jsonscan_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/zchost/zchost/abi/jsonscan"
)

func TestIndexByte(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0x1D, 0x1E, 0x1F, 0x9E, 0xFF}), 0, 100).Draw(t, "b")
		c := rapid.SampledFrom([]byte{0, 0x1E, 0x80, 0xFF}).Draw(t, "c")
		if got, want := jsonscan.IndexByte(b, c), bytes.IndexByte(b, c); got != want {
			t.Fatalf("IndexByte(%x, %x) = %d, want %d", b, c, got, want)
		}
	})
}
