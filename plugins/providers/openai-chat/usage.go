package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// readUsage reads the usage, or returns nil if it says nothing: null, or all
// zero, which is what some servers send while they do not know it yet.
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
		case "prompt_tokens":
			u.Input = readCount(s)
		case "completion_tokens":
			u.Output = readCount(s)
		case "prompt_tokens_details":
			readDetails(s, &u)
		case "completion_tokens_details":
			readDetails(s, &u)
		case "prompt_cache_hit_tokens", "cached_tokens": // DeepSeek's, Moonshot's
			if u.CacheRead == nil {
				u.CacheRead = readCount(s)
			}
		}
	}
	if zero(u.Input) && zero(u.Output) {
		return nil
	}
	return &u
}

// readDetails reads prompt_tokens_details and completion_tokens_details.
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
			u.CacheRead = readCount(s)
		case "cache_write_tokens": // OpenRouter's
			u.CacheWrite = readCount(s)
		case "reasoning_tokens":
			u.Reasoning = readCount(s)
		}
	}
}

// readTimings reads llama.cpp's timings, which count the tokens too: prompt_n are
// those of the prompt that were not in the cache.
func readTimings(s *jsonscan.Scanner) *abi.Usage {
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
		case "prompt_n":
			u.Input = readCount(s)
		case "predicted_n":
			u.Output = readCount(s)
		case "cache_n":
			u.CacheRead = readCount(s)
		}
	}
	if zero(u.Input) && zero(u.Output) {
		return nil
	}
	if u.Input != nil && u.CacheRead != nil {
		*u.Input += *u.CacheRead
	}
	return &u
}

// readCount returns a number of tokens, nil if the value is none.
func readCount(s *jsonscan.Scanner) *int64 {
	n, ok := lenient.Int(s)
	if !ok || n < 0 {
		return nil
	}
	return &n
}

func zero(n *int64) bool { return n == nil || *n == 0 }
