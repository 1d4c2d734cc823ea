package terminal

import "strings"

// environ returns the variables of env; of several with one name the last
// counts.
func environ(env []string) map[string]string {
	vars := make(map[string]string, len(env))
	for _, v := range env {
		if name, value, ok := strings.Cut(v, "="); ok {
			vars[name] = value
		}
	}
	return vars
}

// locales returns the languages of the POSIX variables, best first: LANGUAGE
// is a list, else LC_ALL, LC_MESSAGES or LANG names one.
func locales(vars map[string]string) []string {
	var list []string
	add := func(value string) {
		value, _, _ = strings.Cut(value, ".")
		value, _, _ = strings.Cut(value, "@")
		if value != "" && value != "C" && value != "POSIX" {
			list = append(list, strings.ReplaceAll(value, "_", "-"))
		}
	}
	one := ""
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if vars[name] != "" {
			one = vars[name]
			break
		}
	}
	if one == "C" || one == "POSIX" {
		return nil
	}
	for _, value := range strings.Split(vars["LANGUAGE"], ":") {
		add(value)
	}
	add(one)
	return list
}
