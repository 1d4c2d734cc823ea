package journal_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

func sum(data string) string {
	s := sha256.Sum256([]byte(data))
	return hex.EncodeToString(s[:])
}

func blobs(t *testing.T, j *journal.Journal) (n int) {
	t.Helper()
	must(t, j.DB().QueryRowContext(t.Context(), "SELECT count(*) FROM blobs").Scan(&n))
	return n
}

// TestAttachments checks that attachments are durable with their message
// (ADM-1), in order after its text, and that the same contents are stored once.
func TestAttachments(t *testing.T) {
	t.Parallel()
	j := open(t)
	before := j.Stats()
	turn, _, err := j.Admit(t.Context(), journal.Admission{Session: "s", Text: "look", Attachments: []journal.Attachment{
		{Name: "a.png", MediaType: "image/png", Data: []byte("pixels")},
		{Name: "b.pdf", MediaType: "application/pdf", Data: []byte("pages\x00\xff")},
		{Name: "again.png", MediaType: "image/png", Data: []byte("pixels")},
	}})
	must(t, err)
	if got := j.Stats(); got.Commits-before.Commits != 1 {
		t.Errorf("took %d commits, want 1", got.Commits-before.Commits)
	}
	parts, err := j.UserMessage(t.Context(), turn.ID)
	must(t, err)
	if d := cmp.Diff([]abi.Part{
		{Type: abi.PartText, Text: "look"},
		{Type: abi.PartImage, Name: "a.png", Blob: sum("pixels"), MediaType: "image/png"},
		{Type: abi.PartFile, Name: "b.pdf", Blob: sum("pages\x00\xff"), MediaType: "application/pdf"},
		{Type: abi.PartImage, Name: "again.png", Blob: sum("pixels"), MediaType: "image/png"},
	}, parts); d != "" {
		t.Error(d)
	}
	for id, want := range map[string]journal.Blob{
		sum("pixels"):        {MediaType: "image/png", Data: []byte("pixels")},
		sum("pages\x00\xff"): {MediaType: "application/pdf", Data: []byte("pages\x00\xff")},
	} {
		got, err := j.Blob(t.Context(), id)
		must(t, err)
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	if n := blobs(t, j); n != 2 {
		t.Errorf("%d blobs, want 2", n)
	}
	if _, err := j.Blob(t.Context(), sum("none")); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("found what is not there: %v", err)
	}
}

// TestAttachmentsAlone checks a message of attachments without text, and one
// that names contents that the journal has already, as a retry does.
func TestAttachmentsAlone(t *testing.T) {
	t.Parallel()
	j := open(t)
	first, _, err := j.Admit(t.Context(), journal.Admission{Session: "a", Attachments: []journal.Attachment{
		{Name: "a.txt", MediaType: "text/plain", Data: []byte("words")},
	}})
	must(t, err)
	files, err := j.Attached(t.Context(), first.ID)
	must(t, err)
	if d := cmp.Diff([]journal.Attachment{{Name: "a.txt", MediaType: "text/plain", Blob: sum("words")}}, files); d != "" {
		t.Error(d)
	}
	second, _, err := j.Admit(t.Context(), journal.Admission{Session: "b", Attachments: files})
	must(t, err)
	for _, turn := range []journal.Turn{first, second} {
		parts, err := j.UserMessage(t.Context(), turn.ID)
		must(t, err)
		if d := cmp.Diff([]abi.Part{{Type: abi.PartFile, Name: "a.txt", Blob: sum("words"), MediaType: "text/plain"}}, parts); d != "" {
			t.Error(d)
		}
	}
	if n := blobs(t, j); n != 1 {
		t.Errorf("%d blobs, want 1", n)
	}
	none, err := j.Attached(t.Context(), admit(t, j, "c").ID)
	if err != nil || none != nil {
		t.Errorf("a message without attachments has %v, %v", none, err)
	}
}

// TestAttachmentsInvalid checks the bounds: what is beyond them is refused with
// one typed error, and leaves nothing.
func TestAttachmentsInvalid(t *testing.T) {
	t.Parallel()
	j := open(t)
	one := journal.Attachment{Name: "x", MediaType: "text/plain", Data: []byte("x")}
	with := func(change func(*journal.Attachment)) []journal.Attachment {
		bad := one
		change(&bad)
		return []journal.Attachment{one, bad}
	}
	many := make([]journal.Attachment, journal.MaxAttachments+1)
	for i := range many {
		many[i] = one
	}
	for name, files := range map[string][]journal.Attachment{
		"too many":      many,
		"too large":     with(func(f *journal.Attachment) { f.Data = make([]byte, journal.MaxAttachmentSize+1) }),
		"empty":         with(func(f *journal.Attachment) { f.Data = nil }),
		"no id":         with(func(f *journal.Attachment) { f.Data, f.Blob = nil, "../../etc/passwd" }),
		"upper case id": with(func(f *journal.Attachment) { f.Data, f.Blob = nil, strings.ToUpper(sum("x")) }),
		"unknown id":    with(func(f *journal.Attachment) { f.Data, f.Blob = nil, sum("never stored") }),
		"long name":     with(func(f *journal.Attachment) { f.Name = strings.Repeat("x", journal.MaxKey+1) }),
		"NUL in name":   with(func(f *journal.Attachment) { f.Name = "a\x00b" }),
		"no UTF-8":      with(func(f *journal.Attachment) { f.MediaType = "\xff" }),
		"long type":     with(func(f *journal.Attachment) { f.MediaType = strings.Repeat("x", journal.MaxKey+1) }),
	} {
		_, _, err := j.Admit(t.Context(), journal.Admission{Session: name, Attachments: files})
		var invalid *journal.InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("%s: %v, want an InvalidError", name, err)
		}
	}
	if sessions, err := j.Sessions(t.Context()); err != nil || len(sessions) != 0 || blobs(t, j) != 0 {
		t.Errorf("left %v, %v, and %d blobs", sessions, err, blobs(t, j))
	}
	most := make([]journal.Attachment, journal.MaxAttachments)
	for i := range most {
		most[i] = journal.Attachment{Data: []byte(fmt.Sprint(i))}
	}
	most[0].Data = make([]byte, journal.MaxAttachmentSize)
	_, _, err := j.Admit(t.Context(), journal.Admission{Session: "most", Attachments: most})
	must(t, err)
}

// TestAttachmentsOfARepeatedMessage checks ADM-2: a message that is there
// already stores nothing.
func TestAttachmentsOfARepeatedMessage(t *testing.T) {
	t.Parallel()
	j := open(t)
	for i, data := range []string{"first", "second"} {
		turn, repeated, err := j.Admit(t.Context(), journal.Admission{ExternalID: "1", Attachments: []journal.Attachment{{Data: []byte(data)}}})
		must(t, err)
		if repeated != (i > 0) {
			t.Errorf("%s: repeated %v", data, repeated)
		}
		if files, err := j.Attached(t.Context(), turn.ID); err != nil || files[0].Blob != sum("first") {
			t.Errorf("%v, %v", files, err)
		}
	}
	if n := blobs(t, j); n != 1 {
		t.Errorf("%d blobs, want 1", n)
	}
}
