// Package e2e runs the program that `make build` left in bin against servers
// on loopback: @copilotkit/aimock, a fake OpenAI server that nobody here
// wrote, and the dialects of servers that people run at home.
//
// `make e2e` installs what it needs and runs it. The tests have the build tag
// e2e, so that a plain `go test ./...` needs neither node nor npm.
package e2e
