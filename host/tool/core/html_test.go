package core_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/zchost/zchost/host/tool/core"
)

func TestHTMLText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                               "",
		"just text":                      "just text\n",
		"<p>a</p><p>b</p>":               "a\n\nb\n",
		"a <i>b</i>c\n d":                "a bc d\n",
		"<h2>Head</h2>text":              "## Head\n\ntext\n",
		"<ul><li>one<li>two</ul>after":   "- one\n- two\n\nafter\n",
		"<a href='/x?a=1&amp;b=2'>x</a>": "[x](https://example.com/x?a=1&b=2)\n",
		`<a class=q href=up.html>u</a>.`: "[u](https://example.com/d/up.html).\n",
		"<a href='#top'>top</a>":         "top\n",
		"<a href='javascript:x'>js</a>":  "js\n",
		"<a name=x>n</a>":                "n\n",
		"<pre>a\n  b</pre>":              "a\n  b\n",
		"a<br>b<br/>c":                   "a\nb\nc\n",
		"1 < 2 && 3 > 2":                 "1 < 2 && 3 > 2\n",
		"<!-- <p>no</p> -->yes":          "yes\n",
		"<!doctype html>yes":             "yes\n",
		"<SCRIPT>if (a</b>c) {}</Script >yes<style>p{}</style>": "yes\n",
		"<script>never closed":                             "",
		"<p title=\"a>b\">c":                               "c\n",
		"<tr><td>1</td><td>2</td></tr><tr><td>3</td></tr>": "1 | 2 |\n3 |\n",
		"&lt;b&gt; &copy; &#8364; &nbsp;x":                 "<b> © € x\n",
		"<":                                                "<\n",
		"<p":                                               "",
		"</":                                               "",
	} {
		if got := core.HTMLText(in, "https://example.com/d/page"); got != want {
			t.Errorf("%q gave %q, want %q", in, got, want)
		}
	}
}

// Pages that are made to take long do not.
func TestHTMLTextIsLinear(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"<", "<a href=x>", "<!--", "</", "<script>", "<p class=\"", "<pre>", "&amp", "<li>", "<script></", "<a b "} {
		began := time.Now()
		core.HTMLText(strings.Repeat(piece, (1<<19)/len(piece)), "https://example.com/")
		if took := time.Since(began); took > 30*time.Second { // a hundredth of that, unless it is quadratic
			t.Errorf("%q takes %s", piece, took)
		}
	}
}

func FuzzHTMLText(f *testing.F) {
	for _, s := range []string{"<p>a<a href='x'>b</a>", "<!--<script></pre>", "&#x1F600;<pre>\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, page string) {
		page = strings.ToValidUTF8(page, "")
		if got := core.HTMLText(page, "https://example.com/"); !utf8.ValidString(got) {
			t.Errorf("%q gave %q", page, got)
		}
	})
}

func TestGlobMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"", "a/b", true}, {"*.go", "a/b.go", true}, {"*.go", "a/b.md", false}, {"a/*.go", "a/b.go", true}, {"a/*.go", "a/c/b.go", false},
		{"a/**/b.go", "a/b.go", true}, {"a/**/b.go", "a/x/y/b.go", true}, {"**/b.go", "b.go", true}, {"**/x/**", "a/x/b", true}, {"**/x/**", "a/y/b", false},
		{"/a/b", "a/b", true}, {"a/**", "a/b/c", true}, {"a/**", "b/a/c", false}, {"**/**/**/**/z", strings.Repeat("a/", 200) + "y", false},
	} {
		if got, err := core.GlobMatch(c.glob, c.name); got != c.want || err != nil {
			t.Errorf("%q with %q: %v, %v", c.glob, c.name, got, err)
		}
	}
}
