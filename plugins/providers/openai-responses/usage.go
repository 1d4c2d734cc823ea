package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// readUsage reads the usage, or returns nil if it says nothing: null, or all
// zero, which is what some servers send while they do not know it.
func readUsage(s *jsonscan.Scanner) *abi.Usage {
	if s.Kind() != jsonscan.Object {
		return nil
	}
	var u abi.Usage
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			break
		}
		switch string(key) {
		case "input_tokens":
			u.Input = lenient.Count(s)
		case "output_tokens":
			u.Output = lenient.Count(s)
		case "input_tokens_details", "output_tokens_details":
			readDetails(s, &u)
		}
	}
	if zero(u.Input) && zero(u.Output) {
		return nil
	}
	return &u
}

func readDetails(s *jsonscan.Scanner, u *abi.Usage) {
	if s.Kind() != jsonscan.Object {
		return
	}
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		switch string(key) {
		case "cached_tokens":
			u.CacheRead = lenient.Count(s)
		case "cache_write_tokens":
			u.CacheWrite = lenient.Count(s)
		case "reasoning_tokens":
			u.Reasoning = lenient.Count(s)
		}
	}
}

func zero(n *int64) bool { return n == nil || *n == 0 }
