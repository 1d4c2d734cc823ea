package core

import (
	"path"
	"strings"
)

// globMatch tells whether a path, with slashes, matches a glob: one without a
// slash is matched with the last name, and ** stands for any directories. An
// empty glob matches everything. It takes at most the product of the numbers of
// names in both.
func globMatch(glob, name string) (bool, error) {
	switch {
	case glob == "":
		return true, nil
	case !strings.Contains(glob, "/"):
		return path.Match(glob, path.Base(name))
	}
	return matchNames(strings.Split(strings.TrimPrefix(glob, "/"), "/"), strings.Split(name, "/"))
}

// matchNames compares name by name. reach[i] says whether the globs so far can
// match the first i names.
func matchNames(globs, names []string) (bool, error) {
	reach := make([]bool, len(names)+1)
	reach[0] = true
	for _, g := range globs {
		next := make([]bool, len(names)+1)
		if g == "**" {
			some := false
			for i := range next {
				some = some || reach[i]
				next[i] = some
			}
			reach = next
			continue
		}
		for i, name := range names {
			ok, err := path.Match(g, name)
			if err != nil {
				return false, err
			}
			next[i+1] = ok && reach[i]
		}
		reach = next
	}
	return reach[len(names)], nil
}
