// Package crashtest holds the crash walk: it kills a host at every failpoint,
// starts the next one, and checks the promises. It needs the build tag
// `failpoints`; `make crash` runs it.
package crashtest
