// Command server is a model server that says back what it hears. It stands for
// the server that you write a plugin for: docs/adding-a-provider.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"
)

const address = "127.0.0.1:7070"

type request struct {
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	Turns  []struct {
		From string `json:"from"`
		Says string `json:"says"`
	} `json:"turns"`
}

func main() {
	pause := flag.Duration("pause", 100*time.Millisecond, "how long it thinks after each word")
	flag.Parse()
	log.Println("the parrot listens on http://" + address)
	s := http.Server{Addr: address, Handler: handler(*pause), ReadHeaderTimeout: 10 * time.Second}
	if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}

func handler(pause time.Duration) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /talk", func(w http.ResponseWriter, r *http.Request) { talk(w, r, pause) })
	return mux
}

func talk(w http.ResponseWriter, r *http.Request, pause time.Duration) {
	var q request
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<20)).Decode(&q)
	switch {
	case err != nil || len(q.Turns) == 0:
		w.WriteHeader(http.StatusBadRequest)
		reply(w, map[string]string{"trouble": "there is nothing to say back"})
	case q.Model != "grey":
		w.WriteHeader(http.StatusNotFound)
		reply(w, map[string]string{"trouble": "there is no parrot " + q.Model + ", only grey"})
	case q.Stream:
		stream(r.Context(), w, pause, q.Turns[len(q.Turns)-1].Says)
	default:
		reply(w, map[string]string{"whole": q.Turns[len(q.Turns)-1].Says})
	}
}

// stream says back one word after the other, as slowly as a model does, so that
// there is time to stop it in the middle.
func stream(ctx context.Context, w http.ResponseWriter, pause time.Duration, text string) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	for word := range strings.SplitAfterSeq(text, " ") {
		reply(w, map[string]string{"piece": word})
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
	reply(w, map[string]bool{"over": true})
}

// reply writes one object and sends it at once. A client that has gone away
// needs no answer.
func reply[V any](w http.ResponseWriter, object map[string]V) {
	b, err := json.Marshal(object)
	if err != nil {
		b = []byte(`{"trouble":"a bug"}`)
	}
	_, _ = fmt.Fprintf(w, "%s\n", b)
	_ = http.NewResponseController(w).Flush()
}
