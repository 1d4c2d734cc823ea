package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Tools of the chats below.
const writeTools = `ZCHOST_AGENTS__MAIN__TOOLS=["write_file","read_file"]`

// exists reports whether a file is in the agent's workspace.
func (p *pty) exists(name string) bool {
	p.t.Helper()
	_, err := os.Stat(filepath.Join(p.home, "workspace", "main", name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	return err == nil
}

func write(name string) string { return `tool:write_file:{"path":"` + name + `","content":"one\ntwo"}` }

// The keys of an approval.
func TestApprovalOnATerminal(t *testing.T) {
	t.Parallel()
	s := serve(t, write("no"), "ok", write("yes"), "ok", write("always"), write("again"), "ok")
	p := startChat(t, s.URL+"/v1", writeTools)
	p.see(prompt)

	p.press("first\r")
	p.see("Let me see.")
	p.see("write_file wants to run (effect: write)")
	p.see("path: no")
	p.see("| two")
	p.see("a: always this tool in this chat")
	p.press("\x1b[A") // an arrow key ends with an A, and is no answer
	p.press("\r")
	if p.exists("no") {
		t.Error("it ran before it was allowed")
	}
	p.press("n")
	p.see("] no")
	p.see("write_file was not run: it was not allowed")
	p.see("Hello from a.")
	p.see(prompt)

	p.press("second\r")
	p.see("path: yes")
	p.see("allow?")
	p.press("y")
	p.see("] yes")
	p.see("· write_file")
	p.see("Hello from a.")
	p.see(prompt)

	p.press("third\r")
	p.see("path: always")
	p.see("allow?")
	p.press("a")
	p.see("always in this chat")
	p.see("· write_file path: always")
	p.see("· write_file path: again") // not asked again
	p.see("Hello from a.")
	p.see(prompt)

	for name, want := range map[string]bool{"no": false, "yes": true, "always": true, "again": true} {
		if p.exists(name) != want {
			t.Errorf("%s is there: %t, want %t", name, !want, want)
		}
	}
	p.press("/why\r")
	p.see("approved by the person at the terminal, for the whole chat")
	p.see(prompt)
	p.press(ctrlD)
	p.ends(0)
}

// What was typed before the question was shown is no answer to it; Ctrl-C at the
// question stops the turn, and nobody answers when the time is over.
func TestApprovalIsNotAnswered(t *testing.T) {
	t.Parallel()
	s := serve(t, write("typed"), write("expired"), "ok")
	p := startChat(t, s.URL+"/v1", writeTools, "ZCHOST_AGENTS__MAIN__APPROVAL_TIMEOUT=3s")
	p.see(prompt)
	p.press("first\ry") // the y is typed ahead
	p.see("allow?")
	p.press(ctrlC)
	p.see("[interrupted by user]")
	p.see(prompt)
	if p.exists("typed") || s.count() != 1 {
		t.Errorf("it ran: %t; %d requests, want 1", p.exists("typed"), s.count())
	}
	p.press("second\r")
	p.see("allow?")
	start := time.Now()
	p.see("nobody answered in time")
	if time.Since(start) > 20*time.Second {
		t.Error("it was asked for too long")
	}
	p.see("Hello from a.")
	p.see(prompt)
	if p.exists("expired") {
		t.Error("it ran")
	}
	p.press("usable\x15/quit\r") // the editor has the terminal as before
	p.ends(0)
}

// Ctrl-C stops a tool that runs, and the turn with it.
func TestCtrlCStopsATool(t *testing.T) {
	t.Parallel()
	s := serve(t, `tool:shell:{"command":"touch began; sleep 60; touch ended"}`, "ok")
	p := startChat(t, s.URL+"/v1", `ZCHOST_AGENTS__MAIN__TOOLS=["shell"]`, "ZCHOST_AGENTS__MAIN__APPROVE=never")
	p.see(prompt)
	p.press("first\r")
	p.see("· shell touch began; sleep 60")
	p.see("shell runs, 1s; Ctrl-C stops")
	p.press(ctrlC)
	p.see("· shell was stopped; it may have taken effect in part")
	p.see("[interrupted by user]")
	p.see(prompt)
	if s.count() != 1 || !p.exists("began") || p.exists("ended") {
		t.Errorf("%d requests; began %t, ended %t", s.count(), p.exists("began"), p.exists("ended"))
	}
	p.press("/why\r")
	p.see("cancelled by the user while the tool shell ran")
	p.see(prompt)
	p.press(ctrlD)
	p.ends(0)
}

// A retry on a terminal lists what may happen twice, and asks (GDR-2).
func TestRetryOnATerminal(t *testing.T) {
	t.Parallel()
	s := serve(t, write("twice"), "cut-after", "ok")
	p := startChat(t, s.URL+"/v1", writeTools, "ZCHOST_AGENTS__MAIN__APPROVE=never")
	p.see(prompt)
	p.press("first\r")
	p.see("[stream interrupted]")
	p.see(prompt)
	p.press("/retry\r")
	p.see("- write_file path: twice")
	p.see("[y: yes, n: no]")
	p.press("n")
	p.see("nothing was sent")
	p.see(prompt)
	p.press("/retry\r")
	p.see("[y: yes, n: no]")
	p.press(ctrlC)
	p.see("nothing was sent")
	p.see(prompt)
	if n := s.count(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
	p.press(ctrlD)
	p.ends(0)

	p = startOn(t, p.home, s.URL+"/v1", []string{"retry"}, writeTools)
	p.see("- write_file path: twice")
	p.see("[y: yes, n: no]")
	p.press("n")
	p.see("nothing was sent")
	p.ends(4)
	p = startOn(t, p.home, s.URL+"/v1", []string{"retry"}, writeTools)
	p.see("[y: yes, n: no]")
	p.press("y")
	p.see("Hello from a.")
	p.ends(0)
}
