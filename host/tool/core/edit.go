package core

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/tool"
)

// maxEdit is the largest file that can be edited, in bytes.
const maxEdit = 10 << 20

type editArguments struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	All  bool   `json:"all"`
}

func newEditFile(w *workspace) tool.Tool {
	return newTool(EditFile, abi.EffectWrite,
		"Replaces text in a file of the workspace. old must be in the file exactly once, white space and all; "+
			"read the file before, and give enough of the lines around the place.",
		`{"type":"object","properties":{
			"path":{"type":"string","minLength":1,"description":"The file, relative to the workspace."},
			"old":{"type":"string","minLength":1,"description":"The text to replace, exactly as it is in the file."},
			"new":{"type":"string","description":"The text that takes its place."},
			"all":{"type":"boolean","description":"Replaces every place, however many there are."}},
			"required":["path","old","new"],"additionalProperties":false}`,
		func(_ context.Context, a editArguments) (text string, err error) {
			err = w.use(a.Path, func(root *os.Root, name string) error {
				text, err = edit(root, name, a)
				return err
			})
			return text, err
		})
}

func edit(root *os.Root, name string, a editArguments) (string, error) {
	if a.Old == a.New {
		return "", say("old and new are the same: there is nothing to change.")
	}
	name, err := final(root, name)
	if err != nil {
		return "", err
	}
	f, info, err := openFile(root, name)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(io.LimitReader(f, maxEdit+1))
	_ = f.Close() // only read from
	switch {
	case err != nil:
		return "", explain(name, err)
	case len(content) > maxEdit:
		return "", say("%s is larger than %d MiB, and cannot be edited.", shown(name), maxEdit>>20)
	case binary(content[:min(len(content), looked)]) != "":
		return "", checkText(name, info, content[:min(len(content), looked)])
	}
	old, with := ends(content, a.Old, a.New)
	places := lineNumbers(content, old)
	switch {
	case len(places) == 0:
		return "", missing(name, content, a.Old)
	case len(places) > 1 && !a.All:
		return "", say("old is in %s %d times (lines %s), so it is not clear which is meant. Nothing was changed. Give more of the lines around it, or set all.",
			shown(name), len(places), numbers(places))
	}
	if err := replace(root, name, bytes.ReplaceAll(content, old, with), info.Mode().Perm()); err != nil {
		return "", explain(name, err)
	}
	return fmt.Sprintf("Changed %s in %s, at line %s.", count(len(places), "place"), shown(name), numbers(places)), nil
}

// ends gives old and new the line ends of the file: a model writes LF.
func ends(content []byte, old, with string) (oldText, newText []byte) {
	if bytes.Contains(content, []byte("\r\n")) && !strings.Contains(old, "\r\n") {
		crlf := func(s string) string {
			return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
		}
		if c := crlf(old); c == old || bytes.Contains(content, []byte(c)) {
			return []byte(c), []byte(crlf(with))
		}
	}
	return []byte(old), []byte(with)
}

// lineNumbers returns the lines at which old begins, without overlaps.
func lineNumbers(content, old []byte) []int {
	var places []int
	line, at := 1, 0
	for {
		i := bytes.Index(content[at:], old)
		if i < 0 {
			return places
		}
		line += bytes.Count(content[at:at+i], []byte("\n"))
		places = append(places, line)
		line += bytes.Count(old, []byte("\n"))
		at += i + len(old)
	}
}

// maxNumbers is how many line numbers a message lists.
const maxNumbers = 10

func numbers(places []int) string {
	var list []string
	for _, n := range places[:min(len(places), maxNumbers)] {
		list = append(list, fmt.Sprint(n))
	}
	if len(places) > maxNumbers {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}

// missing says what is wrong with old, if that can be seen: most often the
// white space.
func missing(name string, content []byte, old string) error {
	hint := "Read the file again and copy the text from it."
	if n := looseLine(content, old); n > 0 {
		hint = fmt.Sprintf("At line %d there is the same text with other white space: copy it from there.", n)
	}
	return say("old is not in %s. Nothing was changed. %s", shown(name), hint)
}

// looseLine returns the line at which old stands if white space at the ends of
// lines does not count; 0 if it does not.
func looseLine(content []byte, old string) int {
	var want []string
	for line := range strings.Lines(strings.Trim(old, "\n")) {
		want = append(want, strings.TrimSpace(line))
	}
	if len(want) == 0 || len(want) > 1000 || strings.Join(want, "") == "" {
		return 0
	}
	have := strings.Split(string(content), "\n")
	for i := 0; i+len(want) <= len(have); i++ {
		n := 0
		for n < len(want) && strings.TrimSpace(have[i+n]) == want[n] {
			n++
		}
		if n == len(want) {
			return i + 1
		}
	}
	return 0
}
