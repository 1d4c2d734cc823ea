// Package e2e runs the program that `make build` left in bin against servers
// on loopback: @copilotkit/aimock, a fake of all five protocols that nobody
// here wrote, and the dialects of servers that people run at home.
//
// In judge the vendors' own SDKs read the replies that host/protocols tests
// with, and the types of their parameters are held against our requests.
//
// `make e2e` installs what it needs and runs it. The tests have the build tag
// e2e, so that a plain `go test ./...` needs neither node nor npm.
package e2e
