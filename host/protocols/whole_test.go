package protocols

import (
	"slices"
	"strings"
	"time"

	"github.com/zchost/zchost/host/journal"
)

// wholeFaults are those of answers in one piece: nothing is visible before all
// of it has come, so that whatever cuts it is asked again (REL-3).
func wholeFaults() []fault {
	return slices.Concat(wholeEndings(), wholeRefusals(), wholeFinishes())
}

// whole is the usual answer, without streaming.
func whole(w wire) script { return jsonScript(200, w.whole(say("Hel|lo"))) }

// atOnce is the outcome of the usual answer without streaming.
func atOnce() outcome {
	return outcome{state: journal.Complete, text: "Hello", ledger: "whole complete", usage: "7/3"}
}

// unstreamed is an outcome of a stream without streaming.
func unstreamed(o outcome) outcome {
	o.ledger = strings.ReplaceAll(o.ledger, "stream ", "whole ")
	return o
}

func wholeEndings() []fault {
	cut := func(w wire, e ending) script {
		body := w.whole(say("Hel|lo"))
		s := jsonScript(200, body[:len(body)/2])
		s.end = e
		return s
	}
	padded := func(w wire) script {
		s := jsonScript(200, "")
		s.pieces, s.forever = nil, "\n"
		return s
	}
	return []fault{
		{name: "plain", scripts: once(whole), want: atOnce()},
		{name: "REL3-cut", scripts: twice(func(w wire) script { return cut(w, closing) }), want: unstreamed(again("truncated"))},
		{name: "REL3-short", scripts: twice(func(w wire) script { return cut(w, closing).with("Content-Length", "5000") }), want: unstreamed(again("truncated"))},
		{name: "C012-half", scripts: twice(func(w wire) script { return cut(w, clean) }), want: unstreamed(again("server"))},
		{name: "C014-empty", scripts: twice(func(wire) script { return jsonScript(200, "").with("Content-Length", "0") }), want: unstreamed(again("truncated"))},
		{name: "STR4-html", scripts: twice(func(wire) script { return html() }), want: unstreamed(again("server"))},
		{name: "C010-gzip", scripts: once(func(w wire) script {
			s := whole(w).with("Content-Encoding", "gzip")
			s.pieces = gzipped(s.pieces...)
			return s
		}), want: atOnce()},
		{name: "STR2-trickle", scripts: once(func(w wire) script {
			s := whole(w)
			s.pieces = bytewise(s.pieces[0])
			return s
		}), want: atOnce()},
		{name: "C004-bom", scripts: once(func(w wire) script {
			s := whole(w)
			s.pieces = []string{"\xEF\xBB", "\xBF" + s.pieces[0]}
			return s
		}), want: atOnce()},
		// The head of an answer in one piece comes when all of it is there, so
		// that the longer of the two clocks counts.
		{name: "STR3-header", knobs: "header_timeout = \"1s\"\nidle_timeout = \"1s\"", scripts: twice(func(w wire) script {
			s := whole(w)
			s.late = time.Minute
			return s
		}), want: unstreamed(again("timeout"))},
		{name: "STR3-idle", knobs: `idle_timeout = "1s"`, scripts: twice(func(w wire) script { return cut(w, silence) }), want: unstreamed(again("timeout"))},
		{name: "STR3-blanks", knobs: `progress_timeout = "1s"`, scripts: twice(padded), want: unstreamed(again("timeout"))},
		{name: "STR3-blanks-before", knobs: `idle_timeout = "1s"`, scripts: once(func(w wire) script {
			s := whole(w)
			s.pieces = append(slices.Repeat([]string{"\n"}, 130), s.pieces...)
			s.gap = 10 * time.Millisecond
			return s
		}), want: atOnce()},
		{name: "STR2-line", scripts: once(func(w wire) script { return jsonScript(200, w.whole(say(strings.Repeat("a", 1<<20+1)))) }), want: outcome{
			state: journal.Complete, text: strings.Repeat("a", 1<<20+1), ledger: "whole complete", usage: "7/3",
		}},
		{name: "STR2-body", scripts: twice(func(wire) script {
			s := jsonScript(200, "")
			s.pieces = slices.Repeat([]string{strings.Repeat(" ", 1<<20)}, 66)
			return s
		}), want: unstreamed(again("server"))},
	}
}

// wholeRefusals are the same as those of a stream.
func wholeRefusals() []fault {
	all := refusals()
	for i := range all {
		all[i].want = unstreamed(all[i].want)
		for name, e := range all[i].except {
			all[i].except[name] = exception{e.why, unstreamed(e.want)}
		}
	}
	return all
}

func wholeFinishes() []fault {
	with := func(f finish) func(w wire) []script {
		return twice(func(w wire) script {
			r := say("Hel|lo")
			r.finish = f
			return jsonScript(200, w.whole(r))
		})
	}
	cut := func(marker string) outcome {
		return outcome{state: journal.Incomplete, marker: marker, text: "Hello", ledger: "whole incomplete", usage: "7/3"}
	}
	return []fault{
		{name: "STR5-length", scripts: with(length), want: cut("turn-incomplete-length")},
		{name: "STR5-filter", scripts: with(filter), want: cut("turn-incomplete-filter"), except: unfiltered(cut, atOnce())},
		{name: "STR5-refusal", scripts: with(refusal), want: cut("turn-incomplete-refusal"), except: unrefused(cut, atOnce())},
		{name: "C146-odd", scripts: with(odd), want: atOnce()},
		{name: "REL5-empty", scripts: twice(func(w wire) script { return jsonScript(200, w.whole(reply{in: 7, out: 1})) }), want: unstreamed(again("empty"))},
		{name: "thinking", scripts: once(func(w wire) script {
			return jsonScript(200, w.whole(reply{pieces: []piece{{kind: thinking, text: "the user| greets me", signature: "S1"}, {text: "Hel|lo"}}, in: 7, out: 3}))
		}), want: atOnce()},
	}
}
