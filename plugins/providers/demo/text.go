package main

import (
	"strings"

	"github.com/zchost/zchost/abi"
)

func hello(said string) string {
	said = strings.TrimSpace(said)
	if said == "" {
		return "Hello! " + introduction
	}
	return "Hello! You said: “" + bounded(said) + "”\n\n" + introduction
}

const introduction = `I am the demo provider, a sandboxed plugin: no network, no key, no model. ` +
	`But I can misbehave like a real one, so that you see what the program does about it:

  /demo cut          the connection breaks in the middle of the answer
  /demo cut before   it breaks before the first word
  /demo tool         I call a tool, if I have one
  /demo help         all that I can do

Then ask /why. For a real model: zchost init`

const helpText = `What I can be told to do:

  /demo cut          break the connection after some text: the text stays, with a marker, and nobody is asked again
  /demo cut before   break it before any text: the host asks again, without streaming
  /demo empty        end well, without any text, every time
  /demo empty once   the same, but only while streaming
  /demo silent       stop in the middle and keep the connection open, until the idle timeout
  /demo slow         stream slowly: time for Ctrl-C
  /demo fail         answer every request with status 500
  /demo overloaded   turn the first request away
  /demo length       hit the output limit (also: filter, refusal)
  /demo reasoning    think first
  /demo tool         call a harmless tool; /demo tool NAME {"ARGUMENT": "VALUE"} calls that one
  /demo long N       stream N pieces

Anything else is answered with a greeting.`

// lastText is the last text of the last message. The host merges neighbouring
// messages of a user, for example when the one before got no answer; what the
// person has just typed is the last part.
func lastText(messages []abi.Message) string {
	if len(messages) == 0 {
		return ""
	}
	text := ""
	for _, p := range messages[len(messages)-1].Parts {
		if p.Type == abi.PartText {
			text = p.Text
		}
	}
	return text
}

// pieces cuts a text into words, each with the space behind it.
func pieces(text string) []string {
	var words []string
	from := 0
	for i := 1; i < len(text); i++ {
		if space(text[i-1]) && !space(text[i]) {
			words = append(words, text[from:i])
			from = i
		}
	}
	return append(words, text[from:])
}

func space(c byte) bool { return c == ' ' || c == '\n' }

func countWords(text string) int64 { return int64(len(strings.Fields(text))) }
