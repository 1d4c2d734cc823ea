package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints a script that completes command lines.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help says how to use the script.
func (completionCmd) Help() string {
	return `bash:  zchost completion bash > ~/.local/share/bash-completion/completions/zchost
zsh:   zchost completion zsh > "${fpath[1]}/_zchost"
fish:  zchost completion fish > ~/.config/fish/completions/zchost.fish`
}

// Run prints the script.
func (c completionCmd) Run(a *app, k *kong.Kong) error {
	places := placesOf(k.Model.Node)
	var script strings.Builder
	switch c.Shell {
	case "bash":
		bashCompletion(&script, places)
	case "zsh":
		zshCompletion(&script, places)
	default:
		fishCompletion(&script, places)
	}
	return a.print("%s", script.String())
}

// place is a point in the command line: after these words there may come these
// words.
type place struct {
	// path is the commands so far: "" or "plugin" or "plugin inspect".
	path  string
	words []word
}

// word is a command or a flag that may come next.
type word struct {
	text, help string
	command    bool
	value      bool     // a flag that takes a value
	file       bool     // which is a path
	values     []string // the values of a flag, when they are known
}

// placesOf walks the commands, the root first.
func placesOf(n *kong.Node) []place {
	p := place{path: pathOf(n)}
	for _, child := range n.Children {
		if !child.Hidden {
			p.words = append(p.words, word{text: child.Name, help: child.Help, command: true})
		}
	}
	for _, arg := range n.Positional {
		for _, v := range choices(arg) {
			p.words = append(p.words, word{text: v, help: arg.Help})
		}
	}
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			w := word{text: "--" + f.Name, help: f.Help, value: !f.IsBool(), file: f.Tag.Type == "path"}
			w.values = choices(f.Value)
			p.words = append(p.words, w)
		}
	}
	places := []place{p}
	for _, child := range n.Children {
		if !child.Hidden {
			places = append(places, placesOf(child)...)
		}
	}
	return places
}

// choices returns the values of an enum that can be completed.
func choices(v *kong.Value) []string {
	return slices.DeleteFunc(v.EnumSlice(), func(s string) bool { return s == "" || s == "-" })
}

func pathOf(n *kong.Node) string {
	if n.Parent == nil {
		return ""
	}
	return strings.TrimSpace(pathOf(n.Parent) + " " + n.Name)
}

func (p place) list(keep func(word) bool) string {
	var words []string
	for _, w := range p.words {
		if keep(w) {
			words = append(words, w.text)
		}
	}
	return strings.Join(words, " ")
}

func every(word) bool { return true }

// steps prints the cases that walk from place to place.
func steps(w *strings.Builder, places []place) {
	for _, p := range places {
		for _, next := range p.words {
			if next.command {
				to := strings.TrimSpace(p.path + " " + next.text)
				fmt.Fprintf(w, "      %s) at=%s ;;\n", quote(p.path+"/"+next.text), quote(to))
			}
		}
	}
}

// valueFlags returns every flag that takes a value, once.
func valueFlags(places []place) []word {
	seen := map[string]bool{}
	var flags []word
	for _, p := range places {
		for _, w := range p.words {
			if w.value && !seen[w.text] {
				seen[w.text] = true
				flags = append(flags, w)
			}
		}
	}
	return flags
}

func bashCompletion(w *strings.Builder, places []place) {
	fmt.Fprint(w, `# bash completion for zchost
_zchost() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at= words= i
  case "$prev" in
`)
	for _, f := range valueFlags(places) {
		if f.file {
			fmt.Fprintf(w, "    %s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", f.text)
			continue
		}
		fmt.Fprintf(w, "    %s) COMPREPLY=($(compgen -W %s -- \"$cur\")); return ;;\n", f.text, quote(strings.Join(f.values, " ")))
	}
	fmt.Fprint(w, `  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at/${COMP_WORDS[i]}" in
`)
	steps(w, places)
	fmt.Fprint(w, `    esac
  done
  case "$at" in
`)
	for _, p := range places {
		fmt.Fprintf(w, "    %s) words=%s ;;\n", quote(p.path), quote(p.list(every)))
	}
	fmt.Fprint(w, `  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _zchost zchost
`)
}

func zshCompletion(w *strings.Builder, places []place) {
	fmt.Fprint(w, `#compdef zchost
_zchost() {
  local at= i
  local -a items
  case "${words[CURRENT-1]}" in
`)
	for _, f := range valueFlags(places) {
		if f.file {
			fmt.Fprintf(w, "    %s) _files; return ;;\n", f.text)
			continue
		}
		fmt.Fprintf(w, "    %s) compadd -- %s; return ;;\n", f.text, strings.Join(f.values, " "))
	}
	fmt.Fprint(w, `  esac
  for ((i = 2; i < CURRENT; i++)); do
    case "$at/${words[i]}" in
`)
	steps(w, places)
	fmt.Fprint(w, `    esac
  done
  case "$at" in
`)
	for _, p := range places {
		fmt.Fprintf(w, "    %s) items=(", quote(p.path))
		for _, item := range p.words {
			fmt.Fprintf(w, "\n      %s", quote(strings.ReplaceAll(item.text, ":", `\:`)+":"+item.help))
		}
		fmt.Fprint(w, "\n    ) ;;\n")
	}
	fmt.Fprint(w, `  esac
  _describe zchost items
}
if [ "$funcstack[1]" = _zchost ]; then _zchost; else compdef _zchost zchost; fi
`)
}

func fishCompletion(w *strings.Builder, places []place) {
	fmt.Fprint(w, `# fish completion for zchost
function __zchost_at
  set -l at
  for word in (commandline -opc)[2..-1]
    switch "$at/$word"
`)
	for _, p := range places {
		for _, next := range p.words {
			if next.command {
				to := strings.TrimSpace(p.path + " " + next.text)
				fmt.Fprintf(w, "      case %s\n        set at %s\n", quote(p.path+"/"+next.text), quote(to))
			}
		}
	}
	fmt.Fprint(w, `    end; end
  test "$at" = "$argv[1]"
end
complete -c zchost -f
`)
	for _, p := range places {
		at := quote("__zchost_at " + `"` + p.path + `"`)
		for _, item := range p.words {
			switch {
			case !strings.HasPrefix(item.text, "--"):
				fmt.Fprintf(w, "complete -c zchost -n %s -a %s -d %s\n", at, item.text, quote(item.help))
			case item.file:
				fmt.Fprintf(w, "complete -c zchost -n %s -l %s -rF -d %s\n", at, item.text[2:], quote(item.help))
			case item.value:
				fmt.Fprintf(w, "complete -c zchost -n %s -l %s -xa %s -d %s\n", at, item.text[2:], quote(strings.Join(item.values, " ")), quote(item.help))
			default:
				fmt.Fprintf(w, "complete -c zchost -n %s -l %s -d %s\n", at, item.text[2:], quote(item.help))
			}
		}
	}
}

// quote makes a word of all three shells out of s. Help texts and names hold
// no backslashes, on which they differ.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `’`) + "'"
}
