#!/usr/bin/env bash
# verify.sh: check what must hold beyond the tests. It works on a copy, so that
# it changes nothing and compares with another directory.
set -euo pipefail

max_host=$((40 << 20))
max_guest=$((4 << 20))
max_file=$((512 << 10))
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

step() { echo "verify: $*"; }
fail() { echo "verify: $*" >&2; exit 1; }
size() { wc -c <"$1" | tr -d ' '; }

git ls-files -co --exclude-standard | while read -r f; do
	[ ! -e "$f" ] || printf '%s\n' "$f"
done >"$copy/.files"
tar -cf - -T "$copy/.files" | tar -xf - -C "$copy"

step "go mod tidy changes nothing"
go mod tidy -diff || fail "run go mod tidy"

step "generated files are current"
(cd "$copy" && go generate ./...)
while read -r f; do
	[ -f "$f" ] || continue
	cmp -s "$f" "$copy/$f" || fail "$f is out of date: run make generate"
done <"$copy/.files"

step "plugins are the same bytes when built in another directory"
make -s -C "$copy" plugins
for module in plugins/builtin/dist/*/plugin.wasm; do
	cmp "$module" "$copy/$module" || fail "$module is not reproducible"
	bytes=$(size "$module")
	echo "  $module $bytes bytes $(cksum <"$module" | cut -d' ' -f1)"
	[ "$bytes" -le "$max_guest" ] || fail "$module has more than $max_guest bytes: look at its imports"
done

step "no program is in git"
git ls-files -z | while IFS= read -r -d '' f; do
	[ ! -f "$f" ] || [ "$(size "$f")" -le "$max_file" ] || fail "$f is too large for a source file: was it built?"
done

step "links and paths in the docs lead somewhere"
for page in *.md docs/*.md; do
	{
		grep -oE '\]\([^):#]+[)#]' "$page" | sed "s|^](|$(dirname "$page")/|; s|.\$||" || true
		grep -oE '`(abi|cmd|docs|e2e|examples|host|internal|plugins|sdk)/[a-z0-9_./-]+`' "$page" | tr -d '`' || true
	} | while read -r path; do
		[ -e "$path" ] || fail "$page names $path, which is not there"
	done
done

step "examples build as plugins"
for manifest in examples/*/plugin.toml; do
	GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 go build -buildmode=c-shared -trimpath -ldflags='-s -w -buildid=' -o /dev/null "./${manifest%/plugin.toml}"
done

bytes=$(size bin/zchost)
step "bin/zchost has $bytes bytes, at most $max_host"
[ "$bytes" -le "$max_host" ] || fail "bin/zchost is too large"
