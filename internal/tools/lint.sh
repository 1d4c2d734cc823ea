#!/usr/bin/env bash
# lint.sh VERSION OWN: run golangci-lint of that version over the repository.
# One that is installed is used if its version is right; else it is built into
# the directory OWN.
set -euo pipefail

version=$1 own=$2

right() { [ -x "$1" ] && "$1" version 2>/dev/null | grep -qF "version ${version#v} "; }

lint=
for candidate in "$own/golangci-lint" "$(go env GOPATH)/bin/golangci-lint" "$(command -v golangci-lint || true)"; do
	if right "$candidate"; then
		lint=$candidate
		break
	fi
done
if [ -z "$lint" ]; then
	echo "building golangci-lint $version into $own (some minutes, once)"
	mkdir -p "$own"
	GOBIN="$PWD/$own" go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
	lint=$own/golangci-lint
fi

run() {
	echo "golangci-lint run $*"
	"$lint" run --allow-parallel-runners "$@"
}

echo "tests sleep only in a bubble of testing/synctest"
sleepers=$(grep -rl --include='*_test.go' --exclude=bench_test.go --exclude-dir=node_modules 'time\.Sleep(' . |
	while read -r f; do grep -qE 'testing/synctest|bubble\(' "$f" || echo "$f"; done)
[ -z "$sleepers" ] || { printf 'time.Sleep without testing/synctest:\n%s\n' "$sleepers" >&2; exit 1; }

# Three runs, because each sees files that the others do not.
run ./...
run --build-tags failpoints,e2e ./...
export GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0
# A nolint that is for 64-bit machines is unused here.
run --tests=false --disable nolintlint ./abi/... ./sdk/... ./plugins/providers/... ./examples/provider-carrier ./examples/provider-parrot ./examples/tool-dice ./examples/tool-weather
