package core_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zchost/zchost/host/tool/core"
)

func small(o *core.Options) { o.ResultBytes = 256 + 100 } // room for 100 bytes

func TestReadFile(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{
		"lf": "one\ntwo\nthree\n", "noend": "one\ntwo", "crlf": "one\r\ntwo\r\n", "empty": "", "nul": "a\x00b", "latin": "caf\xe9\n", "utf16": "\xff\xfea\x00",
		"long": strings.Repeat("x", 500) + "\nnext\n", "many": strings.Repeat("0123456789\n", 1000), "umlaut": "Zürich 漢字\n",
	}, small)
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"path": "lf"}, "one\ntwo\nthree\n"},
		{args{"path": "noend"}, "one\ntwo\n"},
		{args{"path": "umlaut"}, "Zürich 漢字\n"},
		{args{"path": "lf", "offset": 2, "limit": 1}, "two\n[lines 2 to 2 of a file of 14 bytes; go on with offset 3]\n"},
		{args{"path": "lf", "offset": 3}, "three\n"},
		{args{"path": "lf", "offset": 4}, "!lf has only 3 lines."},
		{args{"path": "lf", "offset": 0}, "!The call of read_file was not run"},
		{args{"path": "crlf"}, "one\ntwo\n[lines end with CR and LF, which edit_file and write_file keep if you write LF]\n"},
		{args{"path": "empty"}, "[empty is empty]"},
		{args{"path": "nul"}, "!nul is a binary file of 3 bytes; only UTF-8 text can be read."},
		{args{"path": "utf16"}, "!utf16 is UTF-16 text of 4 bytes"},
		{args{"path": "latin"}, "caf\uFFFD\n[not all of it is UTF-8]\n"},
		{args{"path": "long"}, strings.Repeat("x", 100) + "\n[line 1 is cut, 401 bytes of it are not shown; lines 1 to 1 of a file of 506 bytes; go on with offset 2]\n"},
		{args{"path": "long", "offset": 2}, "next\n"},
		{args{"path": "many"}, strings.Repeat("0123456789\n", 9) + "[lines 1 to 9 of a file of 11000 bytes; go on with offset 10]\n"},
		{args{"path": "many", "offset": 1000}, "0123456789\n"},
		{args{"path": "."}, "!. is a directory and not a file."},
		{args{"path": "gone"}, "!There is no gone. list_dir shows what there is."},
		{args{}, "!The call of read_file was not run"},
	} {
		if got := b.run(t, core.ReadFile, c.args); !fits(got, c.want) {
			t.Errorf("%v gave %q, want %q", c.args, got, c.want)
		}
	}
}

// A huge file is read in part, in little memory; a call that is stopped ends.
func TestHugeFile(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	f, err := os.Create(filepath.Join(b.dir, "huge"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("first\n" + strings.Repeat("line\n", 4000)); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 40); err != nil { // a hole
		t.Skip("no files with holes here")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := b.run(t, core.ReadFile, args{"path": "huge", "limit": 2}); got != "first\nline\n[lines 1 to 2 of a file of 1099511627776 bytes; go on with offset 3]\n" {
		t.Errorf("got %q", got)
	}
	if got := b.run(t, core.EditFile, args{"path": "huge", "old": "first", "new": "last"}); !strings.Contains(got, "larger than 10 MiB") {
		t.Errorf("edit gave %q", got)
	}
	if got := b.run(t, core.SearchFiles, args{"pattern": "first"}); !strings.Contains(got, "1 file left out: not text, over 10 MiB, or not readable") {
		t.Errorf("search gave %q", got)
	}
}

func TestListDir(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"b.txt": "12345", "a/x": "", "a/deep/y": "1", ".hidden": ""})
	if err := os.Symlink("a", filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args args
		want string
	}{
		{args{}, ".hidden (0 bytes)\na/\nb.txt (5 bytes)\nlink -> a\n"},
		{args{"path": "a"}, "deep/\nx (0 bytes)\n"},
		{args{"depth": 3}, ".hidden (0 bytes)\na/\na/deep/\na/deep/y (1 byte)\na/x (0 bytes)\nb.txt (5 bytes)\nlink -> a\n"},
		{args{"path": "b.txt"}, "!b.txt is a file and not a directory."},
		{args{"path": "no"}, "!There is no no. list_dir shows what there is."},
	} {
		if got := b.run(t, core.ListDir, c.args); got != c.want {
			t.Errorf("%v gave %q, want %q", c.args, got, c.want)
		}
	}
	if got := setup(t, nil).run(t, core.ListDir, args{}); got != "[the directory is empty]\n" {
		t.Errorf("an empty directory gives %q", got)
	}
}

// Listings are bounded, and say so.
func TestListDirIsBounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 1100 {
		files[fmt.Sprintf("%04d", i)] = ""
	}
	b := setup(t, files)
	if got := b.run(t, core.ListDir, args{}); strings.Count(got, "\n") != 1001 || !strings.Contains(got, "[cut after 1000 lines") {
		t.Errorf("got %d lines, ending with %q", strings.Count(got, "\n"), got[len(got)-200:])
	}
	b = setup(t, files, small)
	if got := b.run(t, core.ListDir, args{}); len(got) > 256+100 || !strings.Contains(got, "[cut after 6 lines") {
		t.Errorf("got %q", got)
	}
}

func TestSearchFiles(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{
		"a.go": "package a\n\nfunc Hello() {}\n", "sub/b.go": "package b\nvar hello = 1\n", "sub/deep/c.md": "Hello there\r\n", ".git/config": "hello",
		"bin": "hello\x00", "long.txt": strings.Repeat("y", 400) + "hello\n",
	})
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"pattern": "func Hello"}, "a.go:3: func Hello() {}\n[1 file left out: not text, over 10 MiB, or not readable]\n"},
		{args{"pattern": "(?i)hello", "glob": "*.go"}, "a.go:3: func Hello() {}\nsub/b.go:2: var hello = 1\n"},
		{args{"pattern": "Hello", "glob": "sub/**"}, "sub/deep/c.md:1: Hello there\n"},
		{args{"pattern": "Hello", "path": "sub"}, "sub/deep/c.md:1: Hello there\n"},
		{args{"pattern": "Hello", "path": "a.go"}, "a.go:3: func Hello() {}\n"},
		{args{"pattern": "Hello()", "literal": true, "glob": "*.go"}, "a.go:3: func Hello() {}\n"},
		{args{"glob": "**/*.go"}, "a.go\nsub/b.go\n"},
		{args{"glob": "sub/*.go"}, "sub/b.go\n"},
		{args{"pattern": "nowhere", "glob": "*.go"}, "[no match in 2 files]\n"},
		{args{"pattern": "nowhere", "path": "bin"}, "[no match in 0 files; 1 file left out: not text, over 10 MiB, or not readable]\n"},
		{args{"pattern": "yhello", "glob": "long.txt"}, "long.txt:1: " + strings.Repeat("y", 300) + "… [cut]\n"},
		{args{}, "!Give a pattern, a glob, or both."},
		{args{"pattern": "("}, "!The pattern is not a regular expression (RE2)"},
		{args{"pattern": "x{1000}{1000}"}, "!The pattern is not a regular expression (RE2)"},
		{args{"pattern": "x", "glob": "[a"}, "!The glob [a has a [ without its ]."},
		{args{"pattern": "x", "path": "gone"}, "!There is no gone."},
		{args{"pattern": strings.Repeat("x", 1001)}, "!The call of search_files was not run"},
	} {
		if got := b.run(t, core.SearchFiles, c.args); !fits(got, c.want) {
			t.Errorf("%v gave %q, want %q", c.args, got, c.want)
		}
	}
}

// A search is bounded in what it gives, and in time.
func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{"f": strings.Repeat("match\n", 1000)}
	if got := setup(t, files).run(t, core.SearchFiles, args{"pattern": "match"}); strings.Count(got, "\n") != 201 || !strings.Contains(got, "[stopped after 200 matches: there may be more") {
		t.Errorf("got %d lines, ending with %q", strings.Count(got, "\n"), got[len(got)-200:])
	}
	if got := setup(t, files, small).run(t, core.SearchFiles, args{"pattern": "match"}); len(got) > 256+100 || !strings.Contains(got, "the result is full") {
		t.Errorf("got %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := setup(t, files).runWithin(ctx, t, core.SearchFiles, args{"pattern": "match"}); !strings.Contains(got, "stopped") {
		t.Errorf("a search that was stopped gave %q", got)
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"old.txt": "old", "dir/x": ""})
	if err := os.Chmod(filepath.Join(b.dir, "old.txt"), 0o750); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "old.txt", "later": "dir/made.txt"} {
		if err := os.Symlink(target, filepath.Join(b.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args args
		want string
		file string
	}{
		{args{"path": "new.txt", "content": "hello"}, "Wrote the new file new.txt (5 bytes).", "new.txt"},
		{args{"path": "a/b/c.txt", "content": "x"}, "Wrote the new file a/b/c.txt (1 byte).", "a/b/c.txt"},
		{args{"path": "old.txt", "content": "newer"}, "Wrote old.txt (5 bytes; it had 3).", "old.txt"},
		{args{"path": "link", "content": "through the link"}, "Wrote old.txt (16 bytes; it had 5).", "old.txt"},
		{args{"path": "later", "content": "made"}, "Wrote the new file dir/made.txt (4 bytes).", "dir/made.txt"},
		{args{"path": "empty", "content": ""}, "Wrote the new file empty (0 bytes).", "empty"},
	} {
		if got := b.run(t, core.WriteFile, c.args); got != c.want {
			t.Errorf("%v gave %q, want %q", c.args, got, c.want)
		}
		if got := b.get(t, c.file); got != c.args["content"] {
			t.Errorf("%s holds %q", c.file, got)
		}
	}
	if got := b.run(t, core.WriteFile, args{"path": "dir", "content": "x"}); got != "!dir is a directory and not a file: it is not replaced." {
		t.Errorf("a directory gave %q", got)
	}
	if got := b.run(t, core.WriteFile, args{"path": "old.txt/x", "content": "x"}); !strings.HasPrefix(got, "!") {
		t.Errorf("a file for a directory gave %q", got)
	}
	if info, err := os.Lstat(filepath.Join(b.dir, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(b.dir, "old.txt")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(b.dir, ".zchost-*")); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A write is whole or not at all: whoever opens the file meanwhile sees one
// content or the other.
func TestWriteIsAtomic(t *testing.T) {
	t.Parallel()
	a, z := strings.Repeat("a", 1<<18), strings.Repeat("z", 1<<18)
	b := setup(t, map[string]string{"f": a})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20 {
			b.run(t, core.WriteFile, args{"path": "f", "content": z})
			b.run(t, core.EditFile, args{"path": "f", "old": z, "new": a})
		}
	}()
	for {
		select {
		case <-done:
			return
		default:
		}
		if got := b.get(t, "f"); got != a && got != z {
			t.Fatalf("the file holds %d bytes, of which %d are a", len(got), strings.Count(got, "a"))
		}
	}
}

func TestEditFile(t *testing.T) {
	t.Parallel()
	const text = "one\n\ttwo\nthree\ntwo\n"
	for name, c := range map[string]struct {
		before     string
		args       args
		want, left string // left is "" if nothing changes
	}{
		"once":           {text, args{"old": "three", "new": "3"}, "Changed 1 place in f, at line 3.", "one\n\ttwo\n3\ntwo\n"},
		"over lines":     {text, args{"old": "one\n\ttwo", "new": "1\n2"}, "Changed 1 place in f, at line 1.", "1\n2\nthree\ntwo\n"},
		"taken out":      {text, args{"old": "three\n", "new": ""}, "Changed 1 place in f, at line 3.", "one\n\ttwo\ntwo\n"},
		"twice":          {text, args{"old": "two", "new": "2"}, "!old is in f 2 times (lines 2, 4), so it is not clear which is meant. Nothing was changed.", ""},
		"all":            {text, args{"old": "two", "new": "2", "all": true}, "Changed 2 places in f, at line 2, 4.", "one\n\t2\nthree\n2\n"},
		"missing":        {text, args{"old": "four", "new": "4"}, "!old is not in f. Nothing was changed. Read the file again", ""},
		"missing, all":   {text, args{"old": "four", "new": "4", "all": true}, "!old is not in f.", ""},
		"other spaces":   {text, args{"old": "    two\nthree", "new": "x"}, "!old is not in f. Nothing was changed. At line 2 there is the same text with other white space", ""},
		"the same":       {text, args{"old": "one", "new": "one"}, "!old and new are the same", ""},
		"empty":          {text, args{"old": "", "new": "x"}, "!The call of edit_file was not run", ""},
		"CRLF":           {"one\r\ntwo\r\n", args{"old": "one\ntwo", "new": "1\n2\n3"}, "Changed 1 place in f, at line 1.", "1\r\n2\r\n3\r\n"},
		"CRLF, one line": {"one\r\ntwo\r\n", args{"old": "two", "new": "2\n3"}, "Changed 1 place in f, at line 2.", "one\r\n2\r\n3\r\n"},
		"CRLF given":     {"one\r\ntwo\r\n", args{"old": "one\r\n", "new": "1\r\n"}, "Changed 1 place in f, at line 1.", "1\r\ntwo\r\n"},
		"no end of line": {"one", args{"old": "one", "new": "two"}, "Changed 1 place in f, at line 1.", "two"},
		"other bytes":    {"caf\xe9 one", args{"old": "one", "new": "two"}, "Changed 1 place in f, at line 1.", "caf\xe9 two"},
		"binary":         {"a\x00b one", args{"old": "one", "new": "two"}, "!f is a binary file of 7 bytes", ""},
	} {
		b := setup(t, map[string]string{"f": c.before})
		c.args["path"] = "f"
		if got := b.run(t, core.EditFile, c.args); !fits(got, c.want) {
			t.Errorf("%s: gave %q, want %q", name, got, c.want)
		}
		want := c.left
		if want == "" {
			want = c.before
		}
		if got := b.get(t, "f"); got != want {
			t.Errorf("%s: the file holds %q, want %q", name, got, want)
		}
	}
	if got := setup(t, nil).run(t, core.EditFile, args{"path": "gone", "old": "a", "new": "b"}); !strings.HasPrefix(got, "!There is no gone.") {
		t.Errorf("a file that is not there gave %q", got)
	}
}
