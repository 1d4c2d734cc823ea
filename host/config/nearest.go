package config

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxListed is the longest list of valid names in a message.
const maxListed = 12

// suggest returns the hint for a name that is none of the valid ones: the
// nearest, and the whole list where it is short.
func suggest(name string, valid []string) string {
	if len(valid) == 0 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(valid))
	if len(sorted) > maxListed {
		sorted = append(sorted[:maxListed], "…")
	}
	list := "valid: " + strings.Join(sorted, ", ")
	near := nearest(name, valid)
	switch {
	case name == "" || near == "":
		return list
	case len(valid) > maxListed:
		return "did you mean " + quote(near) + "?"
	}
	return "did you mean " + quote(near) + "? " + list
}

// nearest returns the valid name that differs least from name, "" if all
// differ too much.
func nearest(name string, valid []string) string {
	best, least := "", max(2, utf8.RuneCountInString(name)/3)+1
	for _, v := range valid {
		if d := distance(strings.ToLower(name), strings.ToLower(v)); d < least {
			best, least = v, d
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment). Only the first 64
// characters count.
func distance(a, b string) int {
	x, y := short(a), short(b)
	before, last := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row := make([]int, len(y)+1)
		row[0] = i + 1
		for j := range y {
			change := 1
			if x[i] == y[j] {
				change = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+change)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(y)]
}

func short(s string) []rune {
	r := []rune(s)
	return r[:min(len(r), 64)]
}
