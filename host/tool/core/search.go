package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/tool"
)

// Bounds of a search.
const (
	searchTime    = 20 * time.Second
	maxMatches    = 200
	maxSearched   = 50_000   // files
	maxFileSize   = 10 << 20 // bytes of a file that is looked into
	maxPattern    = 1000     // bytes
	maxMatchLine  = 64 << 10 // bytes of a line that are looked at
	maxShownLine  = 300      // bytes of a line that are shown
	maxSearchDeep = 64       // directories in one another
)

type searchArguments struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Glob    string `json:"glob"`
	Literal bool   `json:"literal"`
}

func newSearchFiles(w *workspace, room int) tool.Tool {
	return newTool(SearchFiles, abi.EffectRead,
		"Searches the text files of the workspace for lines that match a pattern, and gives each as path:line: text. "+
			"Without a pattern it lists the files that the glob matches. Directories named .git are left out, symbolic links are not followed.",
		`{"type":"object","properties":{
			"pattern":{"type":"string","maxLength":1000,"description":"A regular expression in the syntax of RE2; (?i) at its start ignores case."},
			"literal":{"type":"boolean","description":"Takes the pattern as plain text."},
			"path":{"type":"string","description":"The directory or file to search; without it the whole workspace."},
			"glob":{"type":"string","maxLength":1000,"description":"Which files, such as *.go or docs/**/*.md. Without / it is matched with the name alone, else with the path below the workspace."}},
			"additionalProperties":false}`,
		func(ctx context.Context, a searchArguments) (string, error) {
			s, err := newSearch(a, room)
			if err != nil {
				return "", err
			}
			limited, cancel := context.WithTimeout(ctx, searchTime)
			defer cancel()
			err = w.use(a.Path, func(root *os.Root, name string) error { return s.start(limited, root, name) })
			switch {
			case ctx.Err() != nil:
				return "", ctx.Err()
			case err != nil && !errors.Is(err, errEnough):
				return "", err
			}
			return s.text(), nil
		})
}

// errEnough ends a search before its end; why is in search.stopped.
var errEnough = errors.New("enough")

// search is one search.
type search struct {
	matches func(line []byte) bool // nil lists files
	glob    string
	room    int

	b                               strings.Builder
	found, files, searched, skipped int
	stopped                         string
}

func newSearch(a searchArguments, room int) (*search, error) {
	s := &search{glob: filepath.ToSlash(a.Glob), room: room}
	switch {
	case a.Pattern == "" && a.Glob == "":
		return nil, say("Give a pattern, a glob, or both.")
	case len(a.Pattern) > maxPattern:
		return nil, say("The pattern is longer than %d bytes.", maxPattern)
	case a.Pattern == "":
	case a.Literal:
		text := []byte(a.Pattern)
		s.matches = func(line []byte) bool { return bytes.Contains(line, text) }
	default:
		re, err := regexp.Compile(a.Pattern)
		if err != nil {
			return nil, say("The pattern is not a regular expression (RE2): %v. Set literal to search for plain text.", err)
		}
		s.matches = re.Match
	}
	if _, err := globMatch(s.glob, "x"); err != nil {
		return nil, say("The glob %s has a [ without its ].", s.glob)
	}
	return s, nil
}

// start searches a file or a directory.
func (s *search) start(ctx context.Context, root *os.Root, name string) error {
	info, err := root.Stat(name)
	if err != nil {
		return explain(name, err)
	}
	if !info.IsDir() {
		return s.file(ctx, root, name)
	}
	return s.dir(ctx, root, name, 1)
}

func (s *search) dir(ctx context.Context, root *os.Root, name string, depth int) error {
	entries, more, err := readDir(root, name)
	if err != nil {
		if depth == 1 {
			return err
		}
		s.skipped++ // gone, or not readable
		return nil
	}
	if more || depth > maxSearchDeep {
		s.skipped++
	}
	for _, e := range entries {
		if err := s.stop(ctx); err != nil {
			return err
		}
		path := filepath.Join(name, e.Name())
		switch {
		case e.IsDir() && e.Name() != ".git" && depth <= maxSearchDeep:
			if err := s.dir(ctx, root, path, depth+1); err != nil {
				return err
			}
		case e.Type().IsRegular():
			if ok, _ := globMatch(s.glob, filepath.ToSlash(path)); !ok { // it was checked
				continue
			}
			if err := s.file(ctx, root, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// stop ends the search when it has taken too long or seen too much.
func (s *search) stop(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		s.stopped = fmt.Sprintf("stopped after %s", searchTime)
	case s.files >= maxSearched:
		s.stopped = fmt.Sprintf("stopped after %d files", maxSearched)
	case s.found >= maxMatches:
		s.stopped = fmt.Sprintf("stopped after %d matches", maxMatches)
	default:
		return nil
	}
	return errEnough
}

// file searches one file. One that cannot be read is counted and left out.
func (s *search) file(ctx context.Context, root *os.Root, name string) error {
	s.files++
	if s.matches == nil {
		return s.add(shown(name))
	}
	f, info, err := openFile(root, name)
	if err != nil {
		s.skipped++
		return nil
	}
	defer func() { _ = f.Close() }() // only read from
	from := newLines(f, maxMatchLine)
	start, err := from.from.Peek(looked)
	if (err != nil && err != io.EOF) || info.Size() > maxFileSize || binary(start) != "" { //nolint:errorlint // bufio's contract
		s.skipped++
		return nil
	}
	s.searched++
	for n := 1; ; n++ {
		line, _, err := from.next()
		if err != nil {
			return nil
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return s.stop(ctx)
		}
		if !s.matches(line) {
			continue
		}
		if err := s.add(fmt.Sprintf("%s:%d: %s", shown(name), n, short(line))); err != nil {
			return err
		}
		if err := s.stop(ctx); err != nil {
			return err
		}
	}
}

func (s *search) add(line string) error {
	if s.b.Len()+len(line)+1 > s.room {
		s.stopped = "stopped because the result is full"
		return errEnough
	}
	s.found++
	s.b.WriteString(line + "\n")
	return nil
}

// short is a line as it is shown.
func short(line []byte) string {
	if len(line) <= maxShownLine {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	end := maxShownLine
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return strings.ToValidUTF8(string(line[:end]), "\uFFFD") + "… [cut]"
}

func (s *search) text() string {
	var notes []string
	if s.found == 0 {
		notes = append(notes, "no match in "+count(s.searched, "file"))
	}
	if s.stopped != "" {
		notes = append(notes, s.stopped+": there may be more; narrow it down with path, glob or a longer pattern")
	}
	if s.skipped > 0 {
		notes = append(notes, fmt.Sprintf("%s left out: not text, over %d MiB, or not readable", count(s.skipped, "file"), maxFileSize>>20))
	}
	if len(notes) == 0 {
		return s.b.String()
	}
	return s.b.String() + "[" + strings.Join(notes, "; ") + "]\n"
}
