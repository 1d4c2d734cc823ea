//go:build e2e

package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// server is a running aimock.
type server struct{ url string }

// request is what the server's own journal says about one request.
type request struct {
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    struct {
		Model     string `json:"model"`
		Stream    bool   `json:"stream"`
		MaxTokens int    `json:"max_tokens"`
		Messages  []struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
		} `json:"messages"`
	} `json:"body"`
	Response struct {
		Status int `json:"status"`
	} `json:"response"`
}

// on adds fixtures, a JSON object each.
func (s server) on(t *testing.T, fixtures ...string) {
	t.Helper()
	body := `{"fixtures":[` + strings.Join(fixtures, ",") + `]}`
	res, err := http.Post(s.url+"/__aimock/fixtures", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		t.Fatalf("aimock refuses %s: %s", body, text)
	}
}

// requests returns what the server got for these models, in order.
func (s server) requests(t *testing.T, models ...string) []request {
	t.Helper()
	res, err := http.Get(s.url + "/__aimock/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var all, found []request
	if err := json.NewDecoder(res.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		for _, m := range models {
			if r.Body.Model == m {
				found = append(found, r)
			}
		}
	}
	return found
}

// wantRequests checks the requests for these models: the model, and "stream"
// or "whole", in order.
func (s server) wantRequests(t *testing.T, models []string, want ...string) {
	t.Helper()
	var got []string
	for _, r := range s.requests(t, models...) {
		how := " whole"
		if r.Body.Stream {
			how = " stream"
		}
		got = append(got, r.Body.Model+how)
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("requests: %v, want %v", got, want)
	}
}
