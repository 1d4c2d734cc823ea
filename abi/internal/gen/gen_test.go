package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const abiDir = "../.."

// The codec and docs/abi.md follow from the types: go generate ./abi.
func TestUpToDate(t *testing.T) {
	t.Parallel()
	files, err := outputs(abiDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		old, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(old, f.data) {
			t.Errorf("%s is not up to date: run go generate ./abi", f.path)
		}
	}
}

// Each document is compared with encoding/json.
func TestCodecTestIsComplete(t *testing.T) {
	t.Parallel()
	m, err := parse(abiDir)
	if err != nil {
		t.Fatal(err)
	}
	test, err := os.ReadFile(abiDir + "/codec_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range m.documents {
		if !strings.Contains(string(test), "compare[abi."+d.name+"](t)") {
			t.Errorf("TestCodec does not compare %s", d.name)
		}
	}
}

// The page has a row for each export.
func TestPageShowsExports(t *testing.T) {
	t.Parallel()
	m, err := parse(abiDir)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(abiDir + "/../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	exports := 0
	for name, value := range m.consts {
		if strings.HasPrefix(name, "Export") {
			exports++
			if !strings.Contains(string(page), "\n| "+value+" | [") {
				t.Errorf("the page has no row for %s", value)
			}
		}
	}
	if exports != 9 {
		t.Errorf("%d exports were found", exports)
	}
}

// A page that does not show everything, or shows what is not there, is refused.
func TestFillPage(t *testing.T) {
	t.Parallel()
	m := &model{
		documents: []document{{name: "Doc", doc: "Doc is a Word.", fields: []field{
			{name: "Word", json: "word", doc: "Word is at most Max.", optional: true, typ: goType{base: "Word", slice: true}},
		}}},
		words:  []words{{name: "Word", doc: "Word says it.", values: []word{{"WordA", "a", "WordA is the first."}}}},
		consts: map[string]string{"WordA": "`a`", "Max": "7"},
	}
	page := "x\n<!-- gen:fields Doc -->\nold\n<!-- /gen -->\n<!-- gen:words Word -->\n<!-- /gen -->\ny\n"
	got, err := fillPage(m, []byte(page))
	if err != nil {
		t.Fatal(err)
	}
	want := "x\n<!-- gen:fields Doc -->\nDoc is a `word`.\n\n| field | type | | meaning |\n| --- | --- | --- | --- |\n" +
		"| `word` | array of [Word](#word) | optional | At most 7. |\n<!-- /gen -->\n" +
		"<!-- gen:words Word -->\nWord says it.\n\n| value | meaning |\n| --- | --- |\n| `a` | The first. |\n<!-- /gen -->\ny\n"
	if string(got) != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	for _, bad := range []string{
		"",
		"<!-- gen:fields Doc -->\n<!-- /gen -->",
		page + "<!-- gen:fields Other -->\n<!-- /gen -->",
		page + "<!-- gen:pictures Doc -->\n<!-- /gen -->",
	} {
		if _, err := fillPage(m, []byte(bad)); err == nil {
			t.Errorf("page was taken: %q", bad)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"no comment":   "package abi\ntype T struct {\n\tA string `json:\"a\"`\n}\n",
		"no tag":       "package abi\ntype T struct {\n\t// A is.\n\tA string `json:\"a\"`\n\t// B is.\n\tB string\n}\n",
		"unknown type": "package abi\ntype T struct {\n\t// A is.\n\tA map[string]int `json:\"a\"`\n}\n",
		"no Go":        "package",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/t.go", []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := parse(dir); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
