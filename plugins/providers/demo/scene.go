package main

import (
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi"
)

// scene is what happens in answer to one request.
type scene struct {
	reasoning []string   // in words, as they are streamed
	text      []string   // likewise
	call      *abi.Event // a tool call after the text
	finish    abi.FinishReason
	end       abi.ScriptEnd // other than clean: instead of the finish
	failure   *abi.Failure  // an error response instead of everything else

	delay int64 // the usual delay before each frame in milliseconds, from the options
	pause int64 // the delay before each word of text, if not the usual one
	fast  bool  // whether the words follow each other faster than usual
	model string
	input int64 // the words of the prompt
}

const (
	slowPause = 400   // milliseconds: slow enough to see, faster than the idle timeout
	maxLong   = 20000 // frames of /demo long
	maxEcho   = 200   // bytes of what was said
)

// sceneOf decides by who spoke last: a tool that was called, or the person.
func sceneOf(r abi.ChatRequest, said string) scene {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == abi.RoleTool {
		return result(r.Messages[n-1].Parts)
	}
	if words := strings.Fields(said); len(words) > 1 && words[0] == "/demo" && words[1] == "tool" {
		return useTool(said, r.Tools)
	}
	return sceneFor(said, r.Stream)
}

// sceneFor decides by what the person typed.
func sceneFor(said string, stream bool) scene {
	words := strings.Fields(said)
	if len(words) == 0 || words[0] != "/demo" {
		return answer(hello(said))
	}
	words = append(words, "", "")
	switch words[1] {
	case "cut":
		return cut(words[2] == "before", stream)
	case "empty":
		return empty(words[2] == "once", stream)
	case "silent":
		s := answer("This sentence stops, the connection stays open, and nothing more will")
		s.end = abi.ScriptEndSilence
		return s
	case "slow":
		s := answer("Every word of this answer takes its time. Ctrl-C stops it.")
		s.pause = slowPause
		return s
	case "fail":
		return failed(abi.FailureServer, 500, "the demo provider was told to fail")
	case "overloaded":
		return overloaded(stream)
	case "length", "filter", "refusal":
		return unfinished(words[1])
	case "reasoning":
		s := answer("Forty-two.")
		s.reasoning = pieces("Six times nine would be fifty-four. Six times seven is what they must have meant. ")
		return s
	case "long":
		return long(words[2])
	case "help", "":
		return answer(helpText)
	}
	return answer("There is no /demo " + bounded(words[1]) + ".\n\n" + helpText)
}

// answer is a scene in which nothing goes wrong.
func answer(text string) scene {
	return scene{text: pieces(text), finish: abi.FinishStop}
}

func cut(before, stream bool) scene {
	if !before {
		s := answer("The first half of this sentence arrives, and then the connection")
		s.end = abi.ScriptEndCut
		return s
	}
	if stream {
		return scene{end: abi.ScriptEndCut}
	}
	return answer("The stream broke before you saw anything of it. So the host asked again, without streaming, " +
		"and this is that answer. Had you seen a single word, it would not have asked twice (/demo cut).")
}

func empty(once, stream bool) scene {
	if once && !stream {
		return answer("The stream ended well but held nothing. So the host asked exactly once more, " +
			"without streaming, and this is that answer.")
	}
	return scene{finish: abi.FinishStop}
}

func failed(class abi.FailureClass, status int64, message string) scene {
	return scene{failure: &abi.Failure{Class: class, Status: status, Message: message, Code: "demo"}}
}

func overloaded(stream bool) scene {
	if stream {
		return failed(abi.FailureOverloaded, 529, "the demo provider was told to be overloaded")
	}
	return answer("The first request was turned away as overloaded. The host waited, asked again, and this is the answer.")
}

// unfinished is an answer that ends for another reason than that all was said.
func unfinished(why string) scene {
	s := answer("This answer ends before all was said, because")
	switch why {
	case "length":
		s.finish = abi.FinishLength
	case "filter":
		s.finish = abi.FinishContentFilter
	case "refusal":
		s.finish = abi.FinishRefusal
	}
	return s
}

// long is an answer of n frames.
func long(count string) scene {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > maxLong {
		return answer("How long? /demo long N, with N from 1 to " + strconv.Itoa(maxLong) + ".")
	}
	s := scene{text: make([]string, n), finish: abi.FinishStop, fast: true}
	for i := range s.text {
		s.text[i] = strconv.Itoa(i+1) + " "
	}
	return s
}

// bounded cuts what is said back.
func bounded(text string) string {
	if len(text) > maxEcho {
		return strings.ToValidUTF8(text[:maxEcho], "") + "…"
	}
	return text
}
