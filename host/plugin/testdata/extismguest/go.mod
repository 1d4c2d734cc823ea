// A module of its own: nothing but this guest uses Extism's kit for Go.
// Exactly v1.1.3: the proxy does not list the versions.
module github.com/zchost/zchost/host/plugin/testdata/extismguest

go 1.26.0

require github.com/extism/go-pdk v1.1.3
