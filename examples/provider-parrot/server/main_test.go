package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const question = `{"model":"grey","stream":true,"turns":[{"from":"user","says":"hello there"}]}`

func TestStream(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	handler(0).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/talk", strings.NewReader(question)))
	want := `{"piece":"hello "}` + "\n" + `{"piece":"there"}` + "\n" + `{"over":true}` + "\n"
	if w.Body.String() != want {
		t.Errorf("it says %s", w.Body)
	}
}

// A client that goes away ends the pause, and the answer with it.
func TestStreamEndsWithClient(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	handler(time.Hour).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/talk", strings.NewReader(question)))
	if strings.Contains(w.Body.String(), "over") {
		t.Errorf("it says %s", w.Body)
	}
}
