package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
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
			u.Input = readCount(s)
		case "output_tokens":
			u.Output = readCount(s)
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
			u.CacheRead = readCount(s)
		case "cache_write_tokens":
			u.CacheWrite = readCount(s)
		case "reasoning_tokens":
			u.Reasoning = readCount(s)
		}
	}
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
