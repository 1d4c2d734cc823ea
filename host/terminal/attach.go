package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
)

// ReadAttachment reads a file that is to be sent with a message. What it is
// decide its first bytes, never its name.
func ReadAttachment(path string) (journal.Attachment, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	switch info, err := os.Stat(path); { // before it is opened: a pipe would wait for its writer
	case errors.Is(err, fs.ErrNotExist):
		return journal.Attachment{}, fault.New(fault.Usage, "there is no file "+path, "")
	case err == nil && !info.Mode().IsRegular():
		return journal.Attachment{}, fault.New(fault.Usage, path+" is no file", "name an image or a PDF")
	}
	f, err := os.Open(path) //nolint:gosec // the person names the file
	if err != nil {
		return journal.Attachment{}, fault.Wrap(err, fault.Usage, "attach file", "")
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, journal.MaxAttachmentSize+1))
	if err != nil {
		return journal.Attachment{}, fault.Wrap(err, fault.Usage, "read "+path, "")
	}
	if len(data) > journal.MaxAttachmentSize {
		return journal.Attachment{}, fault.New(fault.Usage,
			fmt.Sprintf("%s is larger than %d MiB", path, journal.MaxAttachmentSize>>20), "send a smaller one")
	}
	media := mediaType(data)
	if media == "" {
		return journal.Attachment{}, fault.New(fault.Usage, path+" is neither an image (PNG, JPEG, GIF, WebP) nor a PDF",
			"put a text into the message itself")
	}
	return journal.Attachment{Name: filepath.Base(path), MediaType: media, Data: data}, nil
}

// mediaType tells the formats that providers take by their signatures (PNG
// specification 5.2, ITU T.81 B.1.1.3, GIF89a 17, RFC 9649 section 2.4, ISO
// 32000-1 7.5.2); empty for anything else.
func mediaType(data []byte) string {
	for _, f := range []struct{ prefix, media string }{
		{"\x89PNG\r\n\x1a\n", "image/png"},
		{"\xff\xd8\xff", "image/jpeg"},
		{"GIF87a", "image/gif"},
		{"GIF89a", "image/gif"},
		{"%PDF-", "application/pdf"},
	} {
		if bytes.HasPrefix(data, []byte(f.prefix)) {
			return f.media
		}
	}
	if len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		return "image/webp"
	}
	return ""
}

// attach keeps a file for the next message.
func (c *Chat) attach(path string) error {
	if path == "" {
		return c.Screen.Complain("which file?", "/attach FILE; it goes with the next message")
	}
	if len(c.attached) == journal.MaxAttachments {
		return c.Screen.Complain(fmt.Sprintf("a message takes at most %d files", journal.MaxAttachments), "send it first")
	}
	file, err := ReadAttachment(unquote(path))
	if err != nil {
		c.worst = Worse(c.worst, ExitUsage)
		return c.Screen.Fail(err)
	}
	c.attached = append(c.attached, file)
	return c.Screen.Note(fmt.Sprintf("%s (%s, %s) goes with the next message", file.Name, file.MediaType, size(len(file.Data))))
}

// unquote takes the quotes away that a terminal puts around a file which is
// dragged into it.
func unquote(path string) string {
	if n := len(path); n >= 2 && path[0] == path[n-1] && (path[0] == '\'' || path[0] == '"') {
		return path[1 : n-1]
	}
	return path
}

func size(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
