package main

import (
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// FuzzBodies: no frame and no body breaks the plugin.
func FuzzBodies(f *testing.F) {
	f.Add([]byte(`{"type":"text","text":"word "}`))
	f.Add([]byte(`{"events":[{"type":"finish","reason":"stop"},{"type":"done"}]}`))
	f.Add([]byte(`{"class":"server","message":"m"}`))
	f.Add([]byte("[DONE]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d provider.Decoder
		if err := (demo{}).Frame(&d, data, ""); err != nil || len(d.Events) > 1 {
			t.Errorf("frame gave %d events, %v", len(d.Events), err)
		}
		r := abi.HTTPResponse{Status: 500, Body: string(data)}
		if events, err := (demo{}).Response(r); err != nil || len(events) == 0 {
			t.Errorf("response gave %d events, %v", len(events), err)
		}
		if (demo{}).Error(r).Class == "" {
			t.Error("the failure has no class")
		}
	})
}

// FuzzSaid: whatever is said, there is a script, and it can be read.
func FuzzSaid(f *testing.F) {
	f.Add("hello", true)
	f.Add("/demo long 12", false)
	f.Add("/demo \xff", true)
	f.Add("/demo\u2003cut before", true)
	f.Fuzz(func(t *testing.T, said string, stream bool) {
		if got := play(t, script(t, said, stream), stream); got.End == "" && got.Failure == "" && !got.Done {
			t.Errorf("%q ended without a signal: %+v", said, got)
		}
	})
}
