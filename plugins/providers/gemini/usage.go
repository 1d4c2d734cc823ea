package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
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
			u.Input = lenient.Count(s)
		case "toolUsePromptTokenCount":
			tools = lenient.Count(s)
		case "cachedContentTokenCount":
			u.CacheRead = lenient.Count(s)
		case "candidatesTokenCount":
			text = lenient.Count(s)
		case "thoughtsTokenCount":
			u.Reasoning = lenient.Count(s)
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

func zero(n *int64) bool { return n == nil || *n == 0 }
