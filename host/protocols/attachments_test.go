package protocols

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

// onePixel is a PNG of one pixel.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

// onePage is the beginning of a PDF, which is all that a fake vendor needs.
const onePage = "%PDF-1.4\n1 0 obj\n<<>>\nendobj\n"

// attached is how each protocol carries an image and, where it can, a file.
func attached() map[string][]string {
	pdf := base64.StdEncoding.EncodeToString([]byte(onePage))
	return map[string][]string{
		"openai-chat": {
			`{"type":"text","text":"look"}`,
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + onePixel + `"}}`,
			`{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,` + pdf + `"}}`,
		},
		"openai-responses": {
			`{"type":"input_text","text":"look"}`,
			`{"type":"input_image","image_url":"data:image/png;base64,` + onePixel + `"}`,
			`{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,` + pdf + `"}`,
		},
		"anthropic": {
			`{"type":"text","text":"look"}`,
			`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + onePixel + `"}}`,
			`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + pdf + `"}}`,
		},
		"gemini": {
			`{"text":"look"}`,
			`{"inlineData":{"mimeType":"image/png","data":"` + onePixel + `"}}`,
			`{"inlineData":{"mimeType":"application/pdf","data":"` + pdf + `"}}`,
		},
		"ollama": {
			`{"role":"user","images":["` + onePixel + `"]}`, // it takes no files
		},
	}
}

// An image and a file reach the vendor in its own form, with the message and
// with every later request, after a restart too.
func TestAttachments(t *testing.T) {
	t.Parallel()
	png, err := base64.StdEncoding.DecodeString(onePixel)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wires() {
		t.Run(w.plugin(), func(t *testing.T) {
			t.Parallel()
			v := startVendor(t, w)
			v.plays("p", better(w))
			home := newHome(t, provider("p", v, 1, "")+agent("p", "p", "", ""))
			for i, attachments := range [][]journal.Attachment{
				{{Name: "p.png", MediaType: "image/png", Data: png}, {Name: "a.pdf", MediaType: "application/pdf", Data: []byte(onePage)}},
				nil,
			} {
				h := startHost(t, home)
				s := ask(t, h, turn.Message{Session: "s", Agent: "p", Surface: "cli", Text: "look", NoStream: true, Attachments: attachments})
				if s.err != nil || s.turn.State != journal.Complete {
					t.Fatalf("%v, %s: %s", s.err, s.turn.State, s.turn.Error.Message)
				}
				if err := h.Shutdown(); err != nil {
					t.Fatal(err)
				}
				body := v.asked("p")[i].body
				wantWithin(t, body, attached()[w.plugin()])
				if strings.Contains(body, "{{blob") {
					t.Errorf("a placeholder is left: %s", body)
				}
			}
		})
	}
}
