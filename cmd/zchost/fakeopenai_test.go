package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// server is an OpenAI-compatible server on loopback that is told how to fail.
// The n-th request meets the n-th mode; the last mode goes on.
type server struct {
	name  string
	modes []string

	mu    sync.Mutex
	seen  []request
	heard chan struct{} // closed and replaced at each change
	*httptest.Server
}

// request is what a server was asked.
type request struct {
	Stream  bool
	Body    string
	Headers http.Header
}

type serversKey struct{}

// fakeOpenAI starts a server: fakeopenai NAME MODE... Its address is in the
// variable NAME_URL and, for the config, in ZCHOST_PROVIDERS__NAME__BASE_URL.
func fakeOpenAI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fakeopenai NAME MODE...")
	}
	s := &server{name: args[0], modes: args[1:], heard: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	ts.Defer(s.Close)
	ts.Value(serversKey{}).(map[string]*server)[s.name] = s //nolint:errcheck // setup put it there
	ts.Setenv(s.name+"_URL", s.URL+"/v1")
	ts.Setenv("ZCHOST_PROVIDERS__"+strings.ToUpper(s.name)+"__BASE_URL", s.URL+"/v1")
}

func find(ts *testscript.TestScript, name string) *server {
	s := ts.Value(serversKey{}).(map[string]*server)[name] //nolint:errcheck // setup put it there
	if s == nil {
		ts.Fatalf("there is no server %s", name)
	}
	return s
}

// requests checks what a server was asked: requests NAME [stream|plain]..., in
// order.
func requests(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: requests NAME [stream|plain]...")
	}
	s := find(ts, args[0])
	s.mu.Lock()
	defer s.mu.Unlock()
	got := []string{}
	for _, r := range s.seen {
		got = append(got, map[bool]string{true: "stream", false: "plain"}[r.Stream])
	}
	if want := strings.Join(args[1:], " "); strings.Join(got, " ") != want {
		ts.Fatalf("server %s was asked %d times (%s), want %d (%s)", s.name, len(got), strings.Join(got, " "), len(args)-1, want)
	}
}

// asked checks that a request to a server holds texts, in this order: asked NAME
// N TEXT...; negated, that it does not hold them.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: asked NAME N TEXT...")
	}
	s := find(ts, args[0])
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > len(s.seen) {
		ts.Fatalf("server %s was asked %d times only", s.name, len(s.seen))
	}
	rest := s.seen[n-1].Body
	for _, text := range args[2:] {
		var found bool
		if _, rest, found = strings.Cut(rest, text); found == neg {
			ts.Fatalf("request %d to %s holds %q: %t: %s", n, s.name, text, found, s.seen[n-1].Body)
		}
	}
}

// sameFingerprint checks that the fingerprint which `plugin inspect --json` has
// just printed is the one in the ledger: samefingerprint.
func sameFingerprint(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: samefingerprint")
	}
	var shown inspection
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &shown))
	ts.Check(ts.Exec("zchost", "why", "--json"))
	for _, f := range shown.Fingerprints {
		if !strings.Contains(ts.ReadFile("stdout"), `"`+f.Fingerprint+`"`) {
			ts.Fatalf("the ledger does not name %s", f.Fingerprint)
		}
	}
}

// await waits until a server was asked that often: await NAME COUNT.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await NAME COUNT")
	}
	s := find(ts, args[0])
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	deadline := time.After(30 * time.Second)
	for {
		s.mu.Lock()
		seen, heard := len(s.seen), s.heard
		s.mu.Unlock()
		if seen >= n {
			return
		}
		select {
		case <-heard:
		case <-deadline:
			ts.Fatalf("server %s was asked %d times only", s.name, seen)
		}
	}
}

// keyOnlyIn checks that every request to a server had the key and that it is
// nowhere in the files below a directory: keyonlyin NAME KEY DIR.
func keyOnlyIn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: keyonlyin NAME KEY DIR")
	}
	s := find(ts, args[0])
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) == 0 {
		ts.Fatalf("server %s was not asked", s.name)
	}
	for _, r := range s.seen {
		if r.Headers.Get("Authorization") != "Bearer "+args[1] {
			ts.Fatalf("Authorization is %q", r.Headers.Get("Authorization"))
		}
	}
	ts.Check(filepath.Walk(ts.MkAbs(args[2]), func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), args[1]) {
			err = fmt.Errorf("%s holds the key", path)
		}
		return err
	}))
}

// terminate sends SIGTERM to the program in the background: terminate.
func terminate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: terminate")
	}
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(syscall.SIGTERM))
	}
}

// exitCode runs a program and checks its exit code: exitcode CODE PROGRAM...
// Its output can be looked at with stdout and stderr.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode CODE PROGRAM...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError) //nolint:errorlint // Exec returns it as it is
		if !ok {
			ts.Check(err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// ServeHTTP answers as the next mode says.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	var asked struct {
		Stream bool `json:"stream"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		http.Error(w, "the request is not JSON", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	mode := s.modes[min(len(s.seen), len(s.modes)-1)]
	s.seen = append(s.seen, request{Stream: asked.Stream, Body: string(body), Headers: r.Header})
	close(s.heard)
	s.heard = make(chan struct{})
	s.mu.Unlock()
	answer{server: s, w: w, r: r, stream: asked.Stream}.give(mode)
}
