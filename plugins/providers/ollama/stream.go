package main

import (
	"bytes"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
	"github.com/zchost/zchost/sdk/provider/failure"
)

// Frame reads a line of a streamed answer. A line has no name.
// https://docs.ollama.com/api/streaming
func (chat) Frame(d *provider.Decoder, data []byte, _ string) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	l := line{before: readState(d.State)}
	err := l.read(data)
	if err == nil {
		l.tell(d, data)
	} else {
		d.Fail(abi.Failure{Class: abi.FailureServer, Message: "a line of the stream is not JSON: " + failure.Quote(string(data))})
	}
	return nil
}

// tell gives the events of a line, in the order in which an answer has them.
func (l *line) tell(d *provider.Decoder, data []byte) {
	now := l.before
	if l.model != "" {
		d.Meta("", l.model)
		now.told = true
	}
	l.close()
	d.Reasoning(l.thought.text)
	d.Text(l.text.text)
	for _, c := range l.calls {
		index := now.calls
		d.ToolCall(&index, c.id, c.name, c.input)
		now.calls++
	}
	if l.failed {
		d.Fail(lineError(data))
	} else if l.done {
		l.end(d, now.calls)
	}
	if now.text, now.thinking = l.text.high, l.thought.high; now != l.before {
		d.State = now.String()
	}
}

// close gives up a half of the thinking when something else follows it, and a
// half of the text when a call or the end follows. After a failure nobody needs
// it, and it must not be the first that is seen of the answer.
func (l *line) close() {
	last := len(l.calls) > 0 || l.done && !l.failed
	if last || l.text.said() {
		l.thought.close()
	}
	if last {
		l.text.close()
	}
}

// end gives the end of the answer. A server that does not count says 0 of both.
func (l *line) end(d *provider.Decoder, calls int64) {
	if !zero(l.usage.Input) || !zero(l.usage.Output) {
		d.Usage(l.usage)
	}
	d.Finish(finishReason(l.reason, calls), l.reason)
	d.Done()
}

func zero(n *int64) bool { return n == nil || *n == 0 }

// finishReason translates done_reason. It is stop after calls of tools too; load
// and unload answer a request without messages.
func finishReason(raw string, calls int64) abi.FinishReason {
	switch {
	case raw == "stop" && calls > 0, raw == "tool_calls":
		return abi.FinishToolCalls
	case raw == "stop":
		return abi.FinishStop
	case raw == "length":
		return abi.FinishLength
	}
	return abi.FinishUnknown
}
