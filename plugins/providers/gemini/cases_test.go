package main

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	meta  = "meta r1 m"
	usage = "usage in=3 out=2"
	stop  = "finish stop (STOP)"
)

// streamCases are the cases of this protocol in the catalogue of failures that
// people met, and further inputs of the same kinds. What a case says about
// framing, clocks and outcome is the host's; here is what the frames mean.
func streamCases() map[string]struct{ stream, want string } {
	return map[string]struct{ stream, want string }{
		"plain answer": {txt("Hel") + txt("lo") + fin("STOP"), lines(meta, "text Hel", "text lo", usage, stop)},
		"STR-1 a finish reason is no signal: the usage may follow": {
			block(`"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]`) + use(`"promptTokenCount":3,"candidatesTokenCount":2`),
			lines("text Hi", stop, usage),
		},
		"STR-1 STOP in every chunk, as older models send it": {
			block(`"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]`) +
				block(`"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]`),
			lines("text a", stop, "text b", stop),
		},
		"C004 U+FEFF in the content stays": {txt("a\uFEFFb"), lines(meta, "text a\uFEFFb")},
		"C006 blank frames are skipped":    {"data:\n\n" + "data: \n\n" + txt("ok") + "data:\n\n", lines(meta, "text ok")},
		"C006 text that is not JSON is an error": {
			"data: <html>busy</html>\n\n", "failure server code= a frame of the stream is not JSON: <html>busy</html>",
		},
		"C008 characters of three and four bytes":          {txt("漢字🚲"), lines(meta, "text 漢字🚲")},
		"C008 halves in two chunks":                        {esc(`1\ud83d`) + esc(`\udeb22`) + fin("STOP"), lines(meta, "text 1", "text 🚲2", usage, stop)},
		"C008 halves in one chunk":                         {parts(`{"text":"\ud83d"},{"text":"\udeb2"}`), lines(meta, "text 🚲")},
		"C008 halves, and others around":                   {esc(`\uD83D`) + use(`"promptTokenCount":1`) + esc(``) + parts(`{}`) + esc(`\uDEB2`), lines(meta, "usage in=1", "text 🚲")},
		"C008 many halves":                                 {esc(`\ud83d`) + esc(`\udeb2\ud83d`) + esc(`\udeb2.`), lines(meta, "text 🚲", "text 🚲.")},
		"C008 a half, then a plain character":              {esc(`\ud83d`) + txt("x"), lines(meta, "text \uFFFDx")},
		"C008 a low half alone":                            {esc(`\udeb2`), lines(meta, "text \uFFFD")},
		"C008 a half, then the end":                        {esc(`a\ud83d`) + fin("STOP"), lines(meta, "text a", usage, "text \uFFFD", stop)},
		"C008 a half, then a failure":                      {esc(`a\ud83d`) + block(`"error":{"code":500,"message":"BOOM"}`), lines(meta, "text a", "failure server code=500 BOOM")},
		"C008 a half, then a call":                         {esc(`\ud83d`) + parts(fcall(`{}`)), lines(meta, "text \uFFFD", "call 0 id= name=f {}")},
		"C008 halves of thoughts":                          {parts(`{"text":"a\ud83d","thought":true}`) + parts(`{"thought":true,"text":"\udeb2b"}`), lines(meta, "reasoning a", "reasoning 🚲b")},
		"C008 a half of a thought, then text":              {parts(`{"text":"\ud83d","thought":true}`) + txt("a"), lines(meta, "reasoning \uFFFD", "text a")},
		"C008 a half on a signed part":                     {parts(`{"text":"\ud83d","thoughtSignature":"S"}`) + esc(`\udeb2`), lines(meta, "text 0 \"\uFFFD\" signed S", "text \uFFFD")},
		"C016 no finish reason and no signal are made up":  {txt("The total is 4"), lines(meta, "text The total is 4")},
		"C018 error in the stream":                         {txt("Hi") + block(`"error":{"code":503,"message":"full","status":"UNAVAILABLE"}`), lines(meta, "text Hi", "failure overloaded code=UNAVAILABLE full")},
		"C018 the code decides: 400":                       {block(`"error":{"code":400,"message":"bad"}`), "failure invalid_request code=400 bad"},
		"C018 error in an array":                           {"data: [{\"error\":{\"code\":500,\"message\":\"BOOM\",\"status\":\"INTERNAL\"}}]\n\n", "failure server code=INTERNAL BOOM"},
		"C018 error string":                                {block(`"error":"BOOM"`), "failure server code= BOOM"},
		"C018 error event":                                 {"event: error\ndata: {\"message\":\"BOOM\"}\n\n", "failure server code= BOOM"},
		"C018 error event, text":                           {"event: error\ndata: BOOM\n\n", "failure server code= the provider reported an error: BOOM"},
		"C018 no error: null, false, empty":                {block(`"error":null`) + block(`"error":{}`) + block(`"error":false`), ""},
		"C022 calls without ids, both in one chunk":        {parts(fcall(`{"x":1}`) + "," + fcall(`{"x":1}`)), lines(meta, `call 0 id= name=f {"x":1}`, `call 1 id= name=f {"x":1}`)},
		"C022 calls without ids, in two chunks":            {parts(fcall(`{"x":1}`)) + parts(fcall(`{"x":2}`)) + fin("STOP"), lines(meta, `call 0 id= name=f {"x":1}`, `call 1 id= name=f {"x":2}`, usage, "finish tool_calls (STOP)")},
		"C024 one id for two calls":                        {parts(`{"functionCall":{"id":"a","name":"f","args":{}}},{"functionCall":{"id":"a","name":"g","args":{}}}`), lines(meta, "call 0 id=a name=f {}", "call 1 id=a name=g {}")},
		"C028 arguments missing, null, empty, no object":   {parts(`{"functionCall":{"name":"f"}},{"functionCall":{"name":"f","args":null}},{"functionCall":{"name":"f","args":{ }}},{"functionCall":{"name":"f","args":[1]}}`), lines(meta, "call 0 id= name=f ", "call 1 id= name=f ", "call 2 id= name=f { }", "call 3 id= name=f [1]")},
		"C032 arguments as they are":                       {parts(fcall(`{"t":"a\n\u00e9 \ud83c\udf0d\"q\""}`)), lines(meta, `call 0 id= name=f {"t":"a\n\u00e9 \ud83c\udf0d\"q\""}`)},
		"a call without a name is a call":                  {parts(fcall(`{}`) + `,{"functionCall":{"args":{"x":1}}}`), lines(meta, "call 0 id= name=f {}", `call 1 id= name=unnamed {"x":1}`)},
		"C034 thoughts alone":                              {parts(`{"text":"hm","thought":true}`) + fin("STOP"), lines(meta, "reasoning hm", usage, stop)},
		"C036 usage so far in each chunk":                  {use(`"promptTokenCount":31,"candidatesTokenCount":20`) + use(`"promptTokenCount":31,"candidatesTokenCount":90`), lines("usage in=31 out=20", "usage in=31 out=90")},
		"CST-2 unknown usage is not zero":                  {use(`"promptTokenCount":7,"totalTokenCount":7`) + use(``) + block(`"usageMetadata":null`) + use(`"promptTokenCount":-1`) + use(`"promptTokenCount":0,"candidatesTokenCount":0`), "usage in=7"},
		"usage in detail":                                  {use(`"promptTokenCount":9,"cachedContentTokenCount":7,"candidatesTokenCount":8,"thoughtsTokenCount":6,"toolUsePromptTokenCount":4,"totalTokenCount":27`), "usage in=13 out=14 read=7 reasoning=6"},
		"usage of an answer that was all thought":          {use(`"promptTokenCount":9,"thoughtsTokenCount":6`), "usage in=9 out=6 reasoning=6"},
		"C048 malformed call":                              {block(`"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL"}]`), "finish unknown (MALFORMED_FUNCTION_CALL)"},
		"C048 malformed call behind calls":                 {parts(fcall(`{}`)) + fin("MALFORMED_FUNCTION_CALL"), lines(meta, "call 0 id= name=f {}", usage, "failure server code=MALFORMED_FUNCTION_CALL the model made a call that the provider calls malformed: none of its calls is run")},
		"C048 without content":                             {block(`"candidates":[{"finishReason":"UNEXPECTED_TOOL_CALL","finishMessage":"no such tool"}]`), "finish unknown (UNEXPECTED_TOOL_CALL)"},
		"C048 content null, parts null, parts of nothing":  {block(`"candidates":[{"content":null}]`) + block(`"candidates":[{"content":{"parts":null}}]`) + parts(`null,{},7`), meta},
		"C048 no candidates":                               {block(`"candidates":[]`) + block(`"candidates":null`), ""},
		"C050 a signature on each kind of part":            {parts(`{"thought":true,"text":"t","thoughtSignature":"S1"},{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}},"thoughtSignature":"S2"}`), lines(meta, `reasoning 0 "t" signed S1`, "call 0 id= name=f {}", "call 1 id= name=g {} signed S2")},
		"C050 a signature on text, on thoughts in front":   {parts(`{"thoughtSignature":"S1","text":"a"}`) + txt("b") + parts(`{"text":"c","thoughtSignature":"S2"}`), lines(meta, `text 0 "a" signed S1`, "text b", `text 1 "c" signed S2`)},
		"C050 a signature on a part without text":          {txt("Hi") + parts(`{"text":"","thoughtSignature":"S=="}`) + fin("STOP"), lines(meta, "text Hi", `text 0 "" signed S==`, usage, stop)},
		"C050 a signature alone":                           {parts(`{"thoughtSignature":"S"}`), lines(meta, `text 0 "" signed S`)},
		"C050 the name that gateways give it":              {parts(`{"functionCall":{"name":"f"},"thought_signature":"S"}`), lines(meta, "call 0 id= name=f  signed S")},
		"C146 FUNCTION_CALL":                               {fin("FUNCTION_CALL"), lines(usage, "finish tool_calls (FUNCTION_CALL)")},
		"C146 unknown reason":                              {fin("eos"), lines(usage, "finish unknown (eos)")},
		"C146 no reason":                                   {block(`"candidates":[{"finishReason":null}]`) + block(`"candidates":[{"finishReason":""}]`) + block(`"candidates":[{"finishReason":"FINISH_REASON_UNSPECIFIED"}]`), ""},
		"C146 another candidate":                           {block(`"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]},"finishReason":"STOP"}]`), ""},
		"C146 index behind":                                {block(`"candidates":[{"content":{"parts":[{"text":"no"}]},"index":1},{"content":{"parts":[{"text":"yes"}]},"index":0}]`), "text yes"},
		"STR-5 MAX_TOKENS":                                 {txt("a") + fin("MAX_TOKENS"), lines(meta, "text a", usage, "finish length (MAX_TOKENS)")},
		"STR-5 SAFETY":                                     {fin("SAFETY"), lines(usage, "finish content_filter (SAFETY)")},
		"STR-5 RECITATION":                                 {fin("RECITATION"), lines(usage, "finish content_filter (RECITATION)")},
		"STR-5 BLOCKLIST":                                  {fin("BLOCKLIST"), lines(usage, "finish content_filter (BLOCKLIST)")},
		"STR-5 PROHIBITED_CONTENT":                         {fin("PROHIBITED_CONTENT"), lines(usage, "finish content_filter (PROHIBITED_CONTENT)")},
		"STR-5 SPII":                                       {fin("SPII"), lines(usage, "finish content_filter (SPII)")},
		"the prompt is blocked":                            {block(`"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":3}`), lines("usage in=3", "failure content_filtered code=PROHIBITED_CONTENT the prompt was blocked: PROHIBITED_CONTENT")},
		"the prompt is blocked, with words":                {block(`"promptFeedback":{"blockReasonMessage":"no","blockReason":"SAFETY"}`), "failure content_filtered code=SAFETY the prompt was blocked: SAFETY: no"},
		"feedback without a block":                         {block(`"promptFeedback":{"safetyRatings":[]}`) + block(`"promptFeedback":{"blockReason":"BLOCK_REASON_UNSPECIFIED"}`) + txt("a"), lines(meta, "text a")},
		"C148 a vendor's event":                            {txt("a") + "event: vendor.progress\ndata: {\"tool\":\"x\"}\n\n" + "event: ping\ndata: still here\n\n" + txt("b"), lines(meta, "text a", "text b")},
		"C148 named message":                               {"event: message\n" + txt("a"), lines(meta, "text a")},
		"C148 [DONE] at the end":                           {txt("a") + fin("STOP") + "data: [DONE]\n\n", lines(meta, "text a", usage, stop, "done")},
		"C148 [DONE] without a finish reason says nothing": {txt("a") + "data: [DONE]\n\n", lines(meta, "text a")},
		"STR-7 code that was run, byte for byte": {
			parts(`{"executableCode": {"language":"PYTHON","code":"print(\u0031)"}, "thoughtSignature":"S"},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1\n"}},{"text":"1"}`),
			lines(meta, `tool code_execution "print(1)" {"executableCode": {"language":"PYTHON","code":"print(\u0031)"}, "thoughtSignature":"S"}`,
				`tool code_execution "1\n" {"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1\n"}}`, "text 1"),
		},
		"STR-7 a picture and a part of a later version": {
			parts(`{"inlineData":{"mimeType":"image/png","data":"AA=="}},7,{"toolCall":{"id":"x"}}`),
			lines(meta, `tool inline_data "image/png" {"inlineData":{"mimeType":"image/png","data":"AA=="}}`, `tool toolCall "" {"toolCall":{"id":"x"}}`),
		},
		"what is said about a part is no part": {parts(`{"text":"a","partMetadata":{"x":1},"videoMetadata":{}}`), lines(meta, "text a")},
		"grounding is left out": {
			block(`"candidates":[{"content":{"parts":[{"text":"a"}]},"groundingMetadata":{"webSearchQueries":["q"]},"citationMetadata":{},"safetyRatings":[]}]`), "text a",
		},
		"members of other kinds": {
			block(`"responseId":1,"modelVersion":[],"candidates":[7,{"index":"0","content":[],"finishReason":3},{"content":{"parts":[{"text":{},"thought":"yes","functionCall":"f","thoughtSignature":1}]}}],"usageMetadata":"no","promptFeedback":1`) +
				"data: 17\n\ndata: null\n\ndata: \"text\"\n\n", "",
		},
	}
}

func fcall(args string) string {
	return `{"functionCall":{"name":"f","args":` + args + `}}`
}

func TestStreams(t *testing.T) {
	t.Parallel()
	for name, c := range streamCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, decode(t, frames(c.stream))); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGroupsOfFrames: however the frames are spread over calls, the events are
// the same (STR-2, as far as it is the plugin's).
func TestGroupsOfFrames(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for name, c := range streamCases() {
		all := frames(c.stream)
		for range 5 {
			var groups [][]frame
			for from := 0; from < len(all); {
				n := 1 + random.IntN(len(all)-from)
				groups = append(groups, all[from:from+n])
				from += n
			}
			if diff := cmp.Diff(c.want, decode(t, groups...)); diff != "" {
				t.Errorf("%s in %d calls (-want +got):\n%s", name, len(groups), diff)
			}
		}
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	for _, s := range []state{{}, {told: true}, {finished: true, calls: 12}, {told: true, finished: true, calls: 1, signed: 130}, {half: 0xD83D, thought: true}, {told: true, half: 0xDBFF}} {
		if got := readState(s.String()); got != s {
			t.Errorf("%+v is written as %q and read as %+v", s, s.String(), got)
		}
	}
	for _, junk := range []string{"x", "m", "mf-1.2", "9999999999999.1", ".", "m1", "é1.2", "0.0.x", "0.0.12345"} {
		if s := readState(junk); s.calls < 0 || s.signed < 0 {
			t.Errorf("%q is read as %+v", junk, s)
		}
	}
}
