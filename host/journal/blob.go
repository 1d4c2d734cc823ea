package journal

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/zchost/zchost/abi"
)

// Bounds of the attachments of one message.
const (
	MaxAttachments    = 16
	MaxAttachmentSize = 20 << 20 // bytes
)

// isBlobID reports whether s is the SHA-256 of something, in lower case.
func isBlobID(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == hex.EncodedLen(sha256.Size)
}

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
		if len(f.Data) == 0 && !isBlobID(f.Blob) {
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
		parts = append(parts, abi.Part{Type: typ, Name: f.Name, Blob: f.Blob, MediaType: f.MediaType})
	}
	return parts
}

// nameBlobs gives each attachment the id of its contents. That takes time, and
// so is not done by the one who writes for everybody.
func (a *Admission) nameBlobs() {
	a.Attachments = slices.Clone(a.Attachments)
	for i := range a.Attachments {
		if f := &a.Attachments[i]; len(f.Data) > 0 {
			sum := sha256.Sum256(f.Data)
			f.Blob = hex.EncodeToString(sum[:])
		}
	}
}

// addBlobs stores the contents that are not there yet. An attachment without
// contents has to name some that are.
func (tx *Tx) addBlobs(files []Attachment) error {
	for i := range files {
		f := &files[i]
		known, err := tx.row("find attachment", make([]driver.Value, 1), "SELECT 1 FROM blobs WHERE id = ?1", f.Blob)
		switch {
		case err != nil:
			return err
		case known:
			continue
		case len(f.Data) == 0:
			return fmt.Errorf("admit message: %w", &InvalidError{"attachment " + f.Name, "is not in the journal"})
		}
		if _, _, err := tx.exec("add attachment",
			"INSERT INTO blobs (id, media_type, data, created) VALUES (?1, ?2, ?3, ?4)",
			f.Blob, f.MediaType, f.Data, tx.now.UnixMilli()); err != nil {
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
