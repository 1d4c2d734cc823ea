package main

import (
	"strings"

	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/failure"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// maxShown is how many results of a search are shown.
const maxShown = 5

// shown is what a person sees of a tool that the provider runs: what it is asked
// for, or what came of it.
func (b *block) shown() string {
	var all []string
	for _, value := range [...][]byte{b.input, b.content} {
		s := jsonscan.New(value)
		switch s.Kind() {
		case jsonscan.Object:
			all = append(all, summary(&s))
		case jsonscan.Array:
			for s.Array(); s.Elem(); {
				if s.Kind() == jsonscan.Object {
					all = append(all, summary(&s))
				}
			}
		case jsonscan.String, jsonscan.Number, jsonscan.Bool, jsonscan.Null, jsonscan.Invalid:
		}
	}
	var some []string
	for _, text := range all {
		if text != "" && len(some) < maxShown {
			some = append(some, text)
		}
	}
	return failure.Quote(strings.Join(some, "; "))
}

// summary is the one member of an object that says most: of an input its query,
// address or command, of a result its title and address, its output, or its
// error.
func summary(s *jsonscan.Scanner) string {
	best, title := "", ""
	rank := 0
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			break
		}
		if string(key) == "title" {
			title = lenient.String(s)
		}
		if n := telling(string(key)); n > rank {
			if text := strings.TrimSpace(lenient.String(s)); text != "" {
				best, rank = text, n
			}
		}
	}
	if title != "" && best != "" {
		return title + " (" + best + ")"
	}
	return title + best
}

// telling says how much a member says, 0 if nothing.
func telling(key string) int {
	switch key {
	case "error_code":
		return 5
	case "query", "command", "code", "url", "pattern":
		return 4
	case "path":
		return 3
	case "stdout", "text":
		return 2
	case "stderr":
		return 1
	}
	return 0
}
