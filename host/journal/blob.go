package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/zchost/zchost/abi"
)

// Bounds of the attachments of one message.
const (
	MaxAttachments    = 16
	MaxAttachmentSize = 20 << 20 // bytes
)

// Attachment is an image or file that belongs to a message.
type Attachment struct {
	// Name is the file's name; may be empty.
	Name string
	// MediaType is such as "image/png"; image/* becomes an image part, the
	// rest a file.
	MediaType string
	// Data is the contents. It may be left out if Blob names what the journal
	// has already.
	Data []byte
	// Blob is the id of the contents: the SHA-256 in hexadecimal.
	Blob string
}

// Blob is the contents of an attachment.
type Blob struct {
	// MediaType is that of the first attachment with these contents.
	MediaType string
	// Data is the contents.
	Data []byte
}

func (a *Admission) checkAttachments() error {
	if len(a.Attachments) > MaxAttachments {
		return &InvalidError{"attachments", fmt.Sprintf("are %d; at most %d are possible", len(a.Attachments), MaxAttachments)}
	}
	for i := range a.Attachments {
		f := &a.Attachments[i]
		if err := checkText("name of an attachment", f.Name, MaxKey); err != nil {
			return err
		}
		if err := checkText("media type of an attachment", f.MediaType, MaxKey); err != nil {
			return err
		}
		if len(f.Data) > MaxAttachmentSize {
			return &InvalidError{"attachment " + f.Name, fmt.Sprintf("is %d bytes long; at most %d are possible", len(f.Data), MaxAttachmentSize)}
		}
		if len(f.Data) == 0 && f.Blob == "" {
			return &InvalidError{"attachment " + f.Name, "is empty"}
		}
	}
	return nil
}

// userParts returns the parts of the person's message.
func (a *Admission) userParts() []abi.Part {
	var parts []abi.Part
	if a.Text != "" || len(a.Attachments) == 0 {
		parts = append(parts, abi.Part{Type: abi.PartText, Text: a.Text})
	}
	for _, f := range a.Attachments {
		typ := abi.PartFile
		if strings.HasPrefix(f.MediaType, "image/") {
			typ = abi.PartImage
		}
		parts = append(parts, abi.Part{Type: typ, Name: f.Name, Blob: f.id(), MediaType: f.MediaType})
	}
	return parts
}

func (f *Attachment) id() string {
	if len(f.Data) == 0 {
		return f.Blob
	}
	sum := sha256.Sum256(f.Data)
	return hex.EncodeToString(sum[:])
}

// addBlobs stores the contents that are not there yet.
func (tx *Tx) addBlobs(files []Attachment) error {
	for _, f := range files {
		if len(f.Data) == 0 {
			continue
		}
		_, _, err := tx.exec("add attachment",
			"INSERT INTO blobs (id, media_type, data, created) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO NOTHING",
			f.id(), f.MediaType, f.Data, tx.now.UnixMilli())
		if err != nil {
			return err
		}
	}
	return nil
}

// Blob returns the contents of an attachment; ErrNotFound if there is none.
func (r *Reader) Blob(ctx context.Context, id string) (Blob, error) {
	var b Blob
	err := r.db.QueryRowContext(ctx, "SELECT media_type, data FROM blobs WHERE id = ?1", id).Scan(&b.MediaType, &b.Data)
	if err != nil {
		return Blob{}, readError("attachment", err)
	}
	return b, nil
}

// UserMessage returns the parts of the person's message of a turn.
func (r *Reader) UserMessage(ctx context.Context, turn string) ([]abi.Part, error) {
	var parts string
	err := r.db.QueryRowContext(ctx,
		"SELECT parts FROM messages WHERE turn = ?1 AND role = 'user' ORDER BY id LIMIT 1", turn).Scan(&parts)
	if err != nil {
		return nil, readError("message of "+turn, err)
	}
	return decodeParts(parts)
}

// Attached returns the attachments of a turn's message, without their contents.
func (r *Reader) Attached(ctx context.Context, turn string) ([]Attachment, error) {
	parts, err := r.UserMessage(ctx, turn)
	if err != nil {
		return nil, err
	}
	var files []Attachment
	for _, p := range parts {
		if p.Blob != "" {
			files = append(files, Attachment{Name: p.Name, MediaType: p.MediaType, Blob: p.Blob})
		}
	}
	return files, nil
}
