package core

import (
	"html"
	"net/url"
	"strings"
)

// htmlText reduces HTML to text: what is read on the page, line by line, with
// links as [text](address), headings with # and list items with -. It is no
// parser of HTML: it goes through the tags from left to right, in linear time,
// and makes something of whatever it meets.
func htmlText(page, base string) string {
	r := reducer{}
	r.base, _ = url.Parse(base) // nil leaves links as they are
	for page != "" {
		before, rest, found := strings.Cut(page, "<")
		r.text(before)
		if !found {
			break
		}
		page = r.markup(rest)
	}
	return r.done()
}

// reducer writes the text.
type reducer struct {
	b     strings.Builder
	base  *url.URL
	space bool // white space came before what comes next
	lines int  // line ends that are due
	pre   int  // how many <pre> are open
	link  string
	wrote int // where the text of the open link begins
}

// markup handles what follows a "<" and returns what comes after it.
func (r *reducer) markup(page string) string {
	switch {
	case strings.HasPrefix(page, "!--"):
		_, rest, _ := strings.Cut(page[3:], "-->")
		return rest
	case page == "" || !isLetter(page[0]) && page[0] != '/' && page[0] != '!' && page[0] != '?':
		r.text("<")
		return page
	}
	tag, rest := cutTag(page)
	closing := strings.HasPrefix(tag, "/")
	name, attributes := cutName(strings.TrimPrefix(tag, "/"))
	if !closing && hidden(name) {
		return after(rest, "</"+name)
	}
	r.tag(name, attributes, closing)
	return rest
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// cutTag cuts a tag at its ">", which may also be in a quoted attribute.
func cutTag(page string) (tag, rest string) {
	quote := byte(0)
	for i := range len(page) {
		switch c := page[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			return page[:i], page[i+1:]
		case (c == '"' || c == '\'') && i > 0 && page[i-1] == '=':
			quote = c
		}
	}
	return page, ""
}

func cutName(tag string) (name, attributes string) {
	end := strings.IndexAny(tag, " \t\r\n/")
	if end < 0 {
		end = len(tag)
	}
	return strings.ToLower(tag[:end]), tag[end:]
}

// hidden tells whether nothing of an element is read.
func hidden(name string) bool {
	switch name {
	case "script", "style", "noscript", "template", "svg", "head", "iframe", "object", "select", "textarea":
		return name != "head" // the title is in it
	}
	return false
}

// after returns what follows an end tag, whatever its case.
func after(page, end string) string {
	for at := 0; ; {
		i := strings.Index(page[at:], "</")
		if i < 0 {
			return ""
		}
		at += i
		if len(page) >= at+len(end) && strings.EqualFold(page[at:at+len(end)], end) {
			_, rest := cutTag(page[at+1:])
			return rest
		}
		at += 2
	}
}

func (r *reducer) tag(name, attributes string, closing bool) {
	switch name {
	case "br":
		r.lines = max(r.lines, 1)
	case "a":
		r.anchor(attributes, closing)
	case "pre":
		r.lines = 2
		if closing {
			r.pre = max(0, r.pre-1)
		} else {
			r.pre++
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		r.lines = 2
		if !closing {
			r.write(strings.Repeat("#", int(name[1]-'0')) + " ")
		}
	case "li":
		r.lines = max(r.lines, 1)
		if !closing {
			r.write("- ")
		}
	case "td", "th":
		if closing {
			r.write(" |")
			r.space = true
		}
	case "p", "table", "ul", "ol", "blockquote", "title", "section", "article", "main", "dl", "figure", "header", "footer", "nav", "form", "hr":
		r.lines = 2
	case "div", "tr", "dt", "dd", "option", "figcaption", "aside", "body", "html", "head", "meta":
		r.lines = max(r.lines, 1)
	}
}

// anchor writes links of the web; others, as #top, are left out.
func (r *reducer) anchor(attributes string, closing bool) {
	if closing {
		if r.link != "" && r.b.Len() > r.wrote {
			r.b.WriteString("](" + r.link + ")")
		}
		r.link = ""
		return
	}
	r.link = ""
	target, err := url.Parse(strings.TrimSpace(attribute(attributes, "href")))
	if err != nil || target.Host == "" && target.Path == "" {
		return
	}
	if r.base != nil {
		target = r.base.ResolveReference(target)
	}
	if target.Scheme == "http" || target.Scheme == "https" {
		r.write("[")
		r.link, r.wrote = target.String(), r.b.Len()
	}
}

// attribute returns the value of an attribute, or "".
func attribute(attributes, name string) string {
	for rest := attributes; rest != ""; {
		rest = strings.TrimLeft(rest, " \t\r\n/")
		end := strings.IndexAny(rest, "= \t\r\n")
		if end < 0 {
			return ""
		}
		key := rest[:end]
		value := ""
		if rest = strings.TrimLeft(rest[end:], " \t\r\n"); strings.HasPrefix(rest, "=") {
			value, rest = attributeValue(strings.TrimLeft(rest[1:], " \t\r\n"))
		}
		if strings.EqualFold(key, name) {
			return html.UnescapeString(value)
		}
	}
	return ""
}

func attributeValue(s string) (value, rest string) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		value, rest, _ = strings.Cut(s[1:], s[:1])
		return value, rest
	}
	end := strings.IndexAny(s, " \t\r\n")
	if end < 0 {
		return s, ""
	}
	return s[:end], s[end:]
}

// text writes text of the page: white space counts as one space.
func (r *reducer) text(s string) {
	s = html.UnescapeString(s)
	if r.pre > 0 {
		if s != "" {
			r.write(strings.ReplaceAll(s, "\r", ""))
		}
		return
	}
	fields := strings.Fields(s)
	if len(fields) == 0 {
		r.space = r.space || s != ""
		return
	}
	r.space = r.space || strings.TrimLeft(s, " \t\r\n") != s
	r.write(strings.Join(fields, " "))
	r.space = strings.TrimRight(s, " \t\r\n") != s
}

// write writes s after the line ends or the space that are due.
func (r *reducer) write(s string) {
	switch {
	case r.b.Len() == 0:
	case r.lines > 0:
		r.b.WriteString(strings.Repeat("\n", r.lines))
	case r.space:
		r.b.WriteByte(' ')
	}
	r.lines, r.space = 0, false
	r.b.WriteString(s)
}

func (r *reducer) done() string {
	if r.b.Len() == 0 {
		return ""
	}
	return r.b.String() + "\n"
}
