package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// readUsage reads usageMetadata, which counts what there was so far. It returns
// nil if it says nothing: null, or all zero, which some servers send while they
// do not know it.
//
// promptTokenCount includes what came from the cache, but neither what tools of
// the provider added to the prompt nor, on the side of the answer,
// candidatesTokenCount what the model thought. A count that is zero is left out.
func readUsage(s *jsonscan.Scanner) *abi.Usage {
	if s.Kind() != jsonscan.Object {
		return nil
	}
	var u abi.Usage
	var tools, text *int64
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			break
		}
		switch string(key) {
		case "promptTokenCount":
			u.Input = readCount(s)
		case "toolUsePromptTokenCount":
			tools = readCount(s)
		case "cachedContentTokenCount":
			u.CacheRead = readCount(s)
		case "candidatesTokenCount":
			text = readCount(s)
		case "thoughtsTokenCount":
			u.Reasoning = readCount(s)
		}
	}
	u.Input = sum(u.Input, tools)
	u.Output = sum(text, u.Reasoning)
	if zero(u.Input) && zero(u.Output) {
		return nil
	}
	return &u
}

// sum adds what is known.
func sum(a, b *int64) *int64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	n := *a + *b
	return &n
}

// readCount returns a number of tokens, nil if the value is none.
func readCount(s *jsonscan.Scanner) *int64 {
	n, ok := readInt(s)
	if !ok || n < 0 || n > 1<<40 {
		return nil
	}
	return &n
}

func zero(n *int64) bool { return n == nil || *n == 0 }
