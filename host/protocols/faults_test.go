package protocols

import (
	"slices"
	"strings"
	"time"

	"github.com/zchost/zchost/host/journal"
)

// fault is something that goes wrong, or looks as if, in one turn.
type fault struct {
	// name names the test; it begins with the rule or case that it holds.
	name string
	// knobs are further keys of the profile.
	knobs string
	// keys is how many keys there are; if not 0, they are the fault's own,
	// because what is learned of a key is shared.
	keys int
	// scripts are what the vendor answers.
	scripts func(w wire) []script
	// want is the outcome in every protocol but those in except.
	want   outcome
	except map[string]exception
}

// outcome is what a turn comes to.
type outcome struct {
	state    journal.State
	marker   string
	text     string
	ledger   string // the attempts: "stream truncated; whole complete"
	mentions string // the turn's error must
	warning  string // of the last attempt
	usage    string // of the last attempt: "input/output"
	least    time.Duration
	keys     string // the labels of the attempts' keys
	kept     int    // messages; if 0, the person's and one with the text
}

// exception is the outcome in one protocol, and why it is another one.
type exception struct {
	why  string
	want outcome
}

const (
	interrupted = "turn-stream-interrupted"
	turnFailed  = "turn-failed"
	noSignal    = "completion-signal-missing"
)

// better is the answer to the second request, in one piece.
func better(w wire) script { return jsonScript(200, w.whole(say("better now"))) }

// stream is a stream of these pieces.
func stream(w wire, pieces ...string) script {
	s := script{pieces: slices.DeleteFunc(pieces, func(p string) bool { return p == "" })}
	if w.plugin() == "ollama" {
		return s.with("Content-Type", "application/x-ndjson")
	}
	return s
}

func (s script) ends(e ending) script { s.end = e; return s }

// hello is the usual answer.
func hello(w wire) frames { return w.streamed(say("Hel|lo")) }

// once answers every request in one way, twice the first one so and the next
// ones with an answer.
func once(f func(w wire) script) func(w wire) []script {
	return func(w wire) []script { return []script{f(w)} }
}

func twice(f func(w wire) script) func(w wire) []script {
	return func(w wire) []script { return []script{f(w), better(w)} }
}

// again is the outcome of a first request that failed before any output.
func again(class string) outcome {
	return outcome{state: journal.Complete, text: "better now", ledger: "stream " + class + "; whole complete", usage: "7/3"}
}

// partial is the outcome of one that failed after some.
func partial(class string) outcome {
	return outcome{state: journal.Interrupted, marker: interrupted, text: "Hel", ledger: "stream " + class}
}

// refused is the outcome of one that is not asked again.
func refused(class, mentions string) outcome {
	return outcome{state: journal.Failed, marker: turnFailed, ledger: "stream " + class, mentions: mentions}
}

// complete is the outcome of the usual answer.
func complete() outcome {
	return outcome{state: journal.Complete, text: "Hello", ledger: "stream complete", usage: "7/3"}
}

func (o outcome) warned() outcome { o.warning = noSignal; return o }

// streamFaults are those of answers that stream.
func streamFaults() []fault {
	return slices.Concat(endings(), streamErrors(), refusals(), transports(), clocks(), limits(), finishes())
}

// endings are the ways in which a stream can end (REL-3, REL-4, STR-1).
func endings() []fault {
	oneLine := "the finish reason and the signal are one frame, so that without it neither was seen"
	return []fault{
		{name: "plain", scripts: once(func(w wire) script { return stream(w, hello(w).all()) }), want: complete()},
		{name: "STR1-open", scripts: once(func(w wire) script { return stream(w, hello(w).all()).ends(silence) }), want: complete(),
			knobs: `idle_timeout = "1s"`,
			except: map[string]exception{"gemini": {
				"the signal is the clean end, which does not come", complete().warned(),
			}}},
		{name: "REL3-cut-before", scripts: twice(func(w wire) script { return stream(w, hello(w).head).ends(closing) }), want: again("truncated")},
		{name: "REL3-reset-before", scripts: twice(func(w wire) script {
			s := stream(w, hello(w).head, " ").ends(reset)
			s.gap = 20 * time.Millisecond // so that what was written has arrived
			return s
		}), want: again("truncated")},
		{name: "C007-end-before", scripts: twice(func(w wire) script { return stream(w, hello(w).head) }), want: again("truncated")},
		{name: "REL4-cut-after", scripts: twice(func(w wire) script { return stream(w, hello(w).head, hello(w).body[0]).ends(closing) }), want: partial("truncated")},
		{name: "C016-end-after", scripts: twice(func(w wire) script { return stream(w, hello(w).head, hello(w).body[0]) }), want: partial("truncated")},
		{name: "C012-half-frame", scripts: twice(func(w wire) script {
			f := hello(w)
			end := f.finish + f.signal
			return stream(w, f.head, f.body[0], end[:20])
		}), want: partial("truncated")},
		{name: "C012-half-first", knobs: "provider_retries = 0", scripts: once(func(w wire) script { return stream(w, w.streamed(say("Hel|lo")).body[0][:20]) }), want: outcome{
			state: journal.Failed, marker: turnFailed, ledger: "stream truncated; whole server", mentions: "before its first frame was whole",
		}},
		{name: "STR1-no-signal", scripts: twice(func(w wire) script {
			f := hello(w)
			return stream(w, f.head+strings.Join(f.body, ""), f.finish).ends(closing)
		}), want: complete().warned(), except: map[string]exception{
			"ollama":           {oneLine, outcome{state: journal.Interrupted, marker: interrupted, text: "Hello", ledger: "stream truncated"}},
			"openai-responses": {oneLine, outcome{state: journal.Interrupted, marker: interrupted, text: "Hello", ledger: "stream truncated"}},
		}},
		// The idle clock ends the silence here; that it is 5 s otherwise is
		// tested in host and in host/egress.
		{name: "STR1-silence", knobs: `idle_timeout = "1s"`, scripts: twice(func(w wire) script {
			f := hello(w)
			return stream(w, f.head+strings.Join(f.body, ""), f.finish).ends(silence)
		}), want: complete().warned(), except: map[string]exception{
			"ollama":           {oneLine, outcome{state: journal.Interrupted, marker: interrupted, text: "Hello", ledger: "stream timeout", mentions: "idle"}},
			"openai-responses": {oneLine, outcome{state: journal.Interrupted, marker: interrupted, text: "Hello", ledger: "stream timeout", mentions: "idle"}},
		}},
		{name: "STR1-strict", knobs: `completion = "signal"`, scripts: twice(func(w wire) script {
			f := hello(w)
			return stream(w, f.head+strings.Join(f.body, ""), f.finish).ends(closing)
		}), want: outcome{state: journal.Interrupted, marker: interrupted, text: "Hello", ledger: "stream truncated"}},
		{name: "C014-empty", knobs: "provider_retries = 1", scripts: once(func(w wire) script { return stream(w).with("Content-Length", "0") }), want: outcome{
			state: journal.Failed, marker: turnFailed, ledger: "stream truncated; whole truncated; whole truncated", mentions: "the body of the answer was empty",
		}},
	}
}

// streamErrors are errors inside a stream (STR-4, C018, C038).
func streamErrors() []fault {
	noClass := "an error in a stream is a text alone, with no field that tells its class"
	return []fault{
		{name: "STR4-server-before", scripts: twice(func(w wire) script { return stream(w, hello(w).head, w.broken(internal)) }), want: again("server")},
		{name: "STR4-server-after", scripts: twice(func(w wire) script { return stream(w, hello(w).head, hello(w).body[0], w.broken(internal)) }), want: partial("server")},
		{name: "C038-first", scripts: twice(func(w wire) script { return stream(w, w.broken(internal)) }), want: again("server")},
		{name: "C038-before", scripts: twice(func(w wire) script { return stream(w, hello(w).head, w.broken(overloaded)) }),
			want:   slow(again("overloaded"), 2*time.Second), // REL-6
			except: map[string]exception{"ollama": {noClass, again("server")}}},
		{name: "C038-after", scripts: twice(func(w wire) script { return stream(w, hello(w).head, hello(w).body[0], w.broken(overloaded)) }),
			want: partial("overloaded"), except: map[string]exception{"ollama": {noClass, partial("server")}}},
		{name: "STR4-json", scripts: twice(func(w wire) script { return jsonScript(200, w.whole(say("Hel|lo"))) }), want: complete()},
		{name: "STR4-html", scripts: twice(func(script wire) script { return html() }), want: again("server")},
	}
}

func slow(o outcome, least time.Duration) outcome { o.least = least; return o }

func html() script {
	return script{headers: map[string]string{"Content-Type": "text/html"}, pieces: []string{"<!DOCTYPE html><html><body>Sign in</body></html>"}}
}

// refusals are answers whose status is an error (REL-6 to REL-8, C128).
func refusals() []fault {
	is := func(p problem) func(w wire) []script { return twice(func(w wire) script { return w.problem(p) }) }
	return []fault{
		{name: "REL6-overloaded", scripts: is(overloaded), want: slow(again("overloaded"), 2*time.Second)},
		{name: "REL7-internal", scripts: is(internal), want: again("server")},
		{name: "REL6-429", scripts: is(limited), knobs: `key_cooldown = "100ms"`, want: again("rate_limited")},
		{name: "REL6-429-after", scripts: is(limitedFor), want: slow(again("rate_limited"), time.Second)},
		{name: "C052-429-day", scripts: is(limitedDay), want: refused("rate_limited", "24h")},
		{name: "REL8-429-key", keys: 2, scripts: is(limitedDay), want: keyed(again("rate_limited"))},
		{name: "C128-401", keys: 1, scripts: is(unauthorized), want: refused("auth", "(40")}, // 400 at Gemini
		{name: "REL8-401-key", keys: 2, scripts: is(unauthorized), want: keyed(again("auth"))},
		{name: "C056-overflow", scripts: is(overflow), want: refused("context_overflow", "400")},
		{name: "C128-404", scripts: is(noModel), want: refused("model_not_found", "404")},
		{name: "REL7-400", scripts: is(badField), want: refused("invalid_request", "400")},
		{name: "REL7-401-cut", keys: 1, scripts: twice(func(w wire) script {
			s := w.problem(unauthorized).with("Content-Length", "5000").ends(closing)
			return s
		}), want: refused("auth", "401"), except: map[string]exception{
			"gemini": {"a bad key has the status 400, and the reason in the body that is cut", refused("invalid_request", "400")},
		}},
		{name: "REL7-502-html", scripts: twice(func(wire) script {
			s := html()
			s.status = 502
			return s
		}), want: again("server")},
	}
}

func keyed(o outcome) outcome { o.keys = "env:KEY_1 env:KEY_2"; return o }

// transports are the same answer on another way (STR-2, C004, C008, C010).
func transports() []fault {
	return []fault{
		{name: "C010-gzip", scripts: once(func(w wire) script {
			f := hello(w)
			return stream(w, gzipped(f.head, f.body[0], f.body[1], f.finish+f.signal)...).with("Content-Encoding", "gzip")
		}), want: complete()},
		{name: "C010-unsaid", scripts: twice(func(w wire) script { return stream(w, gzipped(hello(w).all())...) }), want: again("server")},
		{name: "C010-cut", scripts: twice(func(w wire) script {
			f := hello(w)
			return stream(w, gzipped(f.head+f.body[0], f.body[1])[0]).with("Content-Encoding", "gzip").ends(closing)
		}), want: partial("truncated")},
		{name: "STR2-trickle", scripts: once(func(w wire) script { return stream(w, bytewise(hello(w).all())...) }), want: complete()},
		{name: "C008-utf8", scripts: once(func(w wire) script { return stream(w, bytewise(w.streamed(say("漢字|🚲")).all())...) }),
			want: outcome{state: journal.Complete, text: "漢字🚲", ledger: "stream complete", usage: "7/3"}},
		{name: "C004-bom", scripts: once(func(w wire) script { return stream(w, "\xEF\xBB", "\xBF"+hello(w).all()) }), want: complete()},
		{name: "STR2-crlf", scripts: once(func(w wire) script { return stream(w, strings.ReplaceAll(hello(w).all(), "\n", "\r\n")) }), want: complete()},
		{name: "STR2-tail", scripts: once(func(w wire) script { return stream(w, strings.TrimRight(hello(w).all(), "\n")) }), want: complete()},
	}
}

// clocks are waits (STR-3).
func clocks() []fault {
	ping := func(w wire, pieces ...string) script {
		s := stream(w, pieces...)
		s.forever = w.idle()
		return s
	}
	return []fault{
		{name: "STR3-header", knobs: `header_timeout = "1s"`, scripts: twice(func(w wire) script {
			s := stream(w, hello(w).all())
			s.late = time.Minute
			return s
		}), want: again("timeout")},
		{name: "STR3-idle-before", knobs: `idle_timeout = "1s"`, scripts: twice(func(w wire) script { return stream(w, hello(w).head).ends(silence) }), want: again("timeout")},
		{name: "STR3-idle-after", knobs: `idle_timeout = "1s"`, scripts: twice(func(w wire) script { return stream(w, hello(w).head, hello(w).body[0]).ends(silence) }),
			want: mentioning(partial("timeout"), "idle")},
		{name: "STR3-pings-first", knobs: `progress_timeout = "1s"`, scripts: twice(func(w wire) script { return ping(w) }), want: again("timeout")},
		{name: "STR3-pings-after", knobs: `progress_timeout = "1s"`, scripts: twice(func(w wire) script { return ping(w, hello(w).head, hello(w).body[0]) }),
			want: mentioning(partial("timeout"), "progress")},
		{name: "STR3-pings-between", knobs: "idle_timeout = \"1s\"\nprogress_timeout = \"10s\"", scripts: once(func(w wire) script {
			f := hello(w)
			pieces := slices.Concat([]string{f.head}, slices.Repeat([]string{w.idle()}, 130), f.body, slices.Repeat([]string{w.idle()}, 10), []string{f.finish + f.signal})
			s := stream(w, pieces...)
			s.gap = 10 * time.Millisecond
			return s
		}), want: complete()},
		{name: "C148-foreign", scripts: once(func(w wire) script {
			f := hello(w)
			return stream(w, f.head, w.foreign(), f.body[0], w.foreign(), f.body[1], f.finish+f.signal)
		}), want: complete()},
	}
}

func mentioning(o outcome, text string) outcome { o.mentions = text; return o }

// limits are sizes beyond what is read (STR-2).
func limits() []fault {
	huge := func(n int, lines bool, before bool) func(w wire) []script {
		return twice(func(w wire) script {
			f := hello(w)
			if before {
				return stream(w, f.head, w.huge(n, lines), f.finish+f.signal)
			}
			return stream(w, f.head, f.body[0], w.huge(n, lines), f.finish+f.signal)
		})
	}
	return []fault{
		{name: "STR2-line-before", scripts: huge(1<<20+1, false, true), want: again("server")},
		{name: "STR2-line-after", scripts: huge(1<<20+1, false, false), want: mentioning(partial("server"), "1 MiB")},
		{name: "STR2-frame-before", scripts: huge(8<<20+1, true, true), want: again("server")},
		{name: "STR2-frame-after", scripts: huge(8<<20+1, true, false), want: mentioning(partial("server"), "8 MiB"), except: map[string]exception{
			"ollama": {"a frame is a line, whose limit comes first", mentioning(partial("server"), "1 MiB")},
		}},
	}
}

// unfiltered are the protocols that have no filter of their own.
func unfiltered(cut func(marker string) outcome, plain outcome) map[string]exception {
	return map[string]exception{
		"anthropic": {"a streaming classifier that stops an answer is told as a refusal", cut("turn-incomplete-refusal")},
		"ollama":    {"there is no filter", plain},
	}
}

// unrefused are the protocols that do not tell a refusal.
func unrefused(cut func(marker string) outcome, plain outcome) map[string]exception {
	return map[string]exception{
		"gemini": {"a model's refusal is text; only filters stop an answer", cut("turn-incomplete-filter")},
		"ollama": {"a model's refusal is text", plain},
	}
}

// finishes are reasons to stop, and answers that are none (STR-5, REL-5, C146).
func finishes() []fault {
	with := func(f finish) func(w wire) []script {
		return twice(func(w wire) script {
			r := say("Hel|lo")
			r.finish = f
			return stream(w, w.streamed(r).all())
		})
	}
	cut := func(marker string) outcome {
		return outcome{state: journal.Incomplete, marker: marker, text: "Hello", ledger: "stream incomplete", usage: "7/3"}
	}
	return []fault{
		{name: "STR5-length", scripts: with(length), want: cut("turn-incomplete-length")},
		{name: "STR5-filter", scripts: with(filter), want: cut("turn-incomplete-filter"), except: unfiltered(cut, complete())},
		{name: "STR5-refusal", scripts: with(refusal), want: cut("turn-incomplete-refusal"), except: unrefused(cut, complete())},
		{name: "C146-odd", scripts: with(odd), want: complete()},
		{name: "REL5-empty", scripts: twice(func(w wire) script { return stream(w, w.streamed(reply{in: 7, out: 1}).all()) }), want: again("empty")},
		{name: "C034-thinking", scripts: twice(func(w wire) script {
			return stream(w, w.streamed(reply{pieces: []piece{{kind: thinking, text: "the user| greets me", signature: "S1"}}, in: 7, out: 3}).all())
		}), want: outcome{state: journal.Interrupted, marker: turnFailed, ledger: "stream empty", usage: "7/3"}},
		{name: "thinking", scripts: once(func(w wire) script {
			return stream(w, w.streamed(reply{pieces: []piece{{kind: thinking, text: "the user| greets me", signature: "S1"}, {text: "Hel|lo"}}, in: 7, out: 3}).all())
		}), want: complete()},
	}
}
