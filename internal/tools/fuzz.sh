#!/usr/bin/env bash
# fuzz.sh TIME: run every fuzz test of the repository for TIME.
set -euo pipefail

time=$1

grep -rlE '^func Fuzz[A-Z]\w*\(' --include='*_test.go' --exclude-dir=node_modules . |
	sort | while read -r file; do
	dir=$(dirname "$file")
	sed -nE 's/^func (Fuzz[A-Z][A-Za-z0-9_]*)\(.*/\1/p' "$file" | while read -r name; do
		echo "go test -fuzz=$name -fuzztime=$time ./$dir"
		go test -run='^$' -fuzz="^$name\$" -fuzztime="$time" "./$dir" </dev/null
	done
done
