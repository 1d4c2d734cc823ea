// Command server is a model server that says back what it hears. It stands for
// the server that you write a plugin for: docs/adding-a-provider.md.
package main

import (
	"encoding/json"
	"errors"
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
	mux := http.NewServeMux()
	mux.HandleFunc("POST /talk", talk)
	log.Println("the parrot listens on http://" + address)
	s := http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}

func talk(w http.ResponseWriter, r *http.Request) {
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
		stream(w, q.Turns[len(q.Turns)-1].Says)
	default:
		reply(w, map[string]string{"whole": q.Turns[len(q.Turns)-1].Says})
	}
}

// stream says back one word after the other.
func stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	for word := range strings.SplitAfterSeq(text, " ") {
		reply(w, map[string]string{"piece": word})
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
