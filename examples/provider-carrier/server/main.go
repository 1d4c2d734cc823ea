// Command server is a model server that says back what it hears. It speaks the
// protocol of examples/provider-carrier, and what it does can be asked for:
//
//	send TITLE FORM  it calls that tool, as in: send list_dir {"path":"."}
//	storm            its answer fails after a word
//	vanish           its connection breaks after a word
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"net/http"
	"strings"
	"time"
)

const address = "127.0.0.1:7071"

type flight struct {
	Bird    string   `json:"bird"`
	Letters []letter `json:"letters"`
	Errands []struct {
		Title string `json:"title"`
	} `json:"errands"`
	Flock bool `json:"flock"`
}

type letter struct {
	By      string   `json:"by"`
	Lines   []string `json:"lines"`
	Picture string   `json:"picture"`
	Report  string   `json:"report"`
}

type errand struct {
	No    string          `json:"no"`
	Title string          `json:"title"`
	Form  json.RawMessage `json:"form"`
}

type object map[string]any

// answer is what the pigeon does: it says the feathers, then sends the errand, if any.
type answer struct {
	thinks   string
	feathers []string
	errand   *errand
	crash    object // after the feathers
	vanish   bool   // after the feathers
}

func main() {
	key := flag.String("key", "", "the key that it wants, if any")
	pause := flag.Duration("pause", 100*time.Millisecond, "how long it thinks after each word")
	flag.Parse()
	log.Println("the pigeon listens on http://" + address)
	s := http.Server{Addr: address, Handler: handler(*key, *pause), ReadHeaderTimeout: 10 * time.Second}
	if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}

func handler(key string, pause time.Duration) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /fly", func(w http.ResponseWriter, r *http.Request) {
		var f flight
		switch err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<20)).Decode(&f); {
		case key != "" && r.Header.Get("Ring") != key:
			fail(w, http.StatusUnauthorized, crash("a strange ring", ""))
		case err != nil || len(f.Letters) == 0:
			fail(w, http.StatusBadRequest, crash("no letters", ""))
		case f.Bird != "pigeon":
			fail(w, http.StatusNotFound, crash("there is no "+f.Bird+" here", "unknown_bird"))
		case f.Flock:
			stream(r.Context(), w, think(f), pause)
		default:
			whole(w, think(f))
		}
	})
	return mux
}

func crash(why, sort string) object {
	return object{"crash": object{"why": why, "sort": sort}}
}

func fail(w http.ResponseWriter, status int, o object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	reply(w, o)
}

// think decides what to do about the last letter.
func think(f flight) answer {
	last := f.Letters[len(f.Letters)-1]
	said := strings.Join(last.Lines, " ")
	switch title, form, _ := strings.Cut(strings.TrimPrefix(said, "send "), " "); {
	case last.By == "errand":
		return answer{feathers: words("the report: " + last.Report)}
	case last.Picture != "":
		return answer{feathers: words("a picture")}
	case said == "storm":
		return answer{feathers: []string{"hail "}, crash: crash("a storm", "storm")}
	case said == "vanish":
		return answer{feathers: []string{"gone "}, vanish: true}
	case strings.HasPrefix(said, "send ") && offered(f, title) && json.Valid([]byte(form)):
		return answer{thinks: "I have to fly.", errand: &errand{No: "e1", Title: title, Form: json.RawMessage(form)}}
	}
	return answer{feathers: words(said)}
}

func offered(f flight, title string) bool {
	for _, e := range f.Errands {
		if e.Title == title {
			return true
		}
	}
	return false
}

func words(s string) []string { return strings.SplitAfter(s, " ") }

func (a answer) weight() object { return object{"took": 1, "gave": len(a.feathers)} }

func (a answer) landed() string {
	if a.errand != nil {
		return "errands"
	}
	return "home"
}

func stream(ctx context.Context, w http.ResponseWriter, a answer, pause time.Duration) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	if a.thinks != "" {
		reply(w, object{"thinks": a.thinks})
	}
	for _, f := range a.feathers {
		reply(w, object{"feather": f})
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
	switch {
	case a.vanish:
		panic(http.ErrAbortHandler) // the connection breaks
	case a.crash != nil:
		reply(w, a.crash)
		return
	case a.errand != nil:
		reply(w, object{"errand": a.errand})
	}
	reply(w, object{"weight": a.weight()})
	reply(w, object{"landed": a.landed()})
}

func whole(w http.ResponseWriter, a answer) {
	if a.vanish {
		panic(http.ErrAbortHandler)
	}
	if a.crash != nil {
		fail(w, http.StatusServiceUnavailable, a.crash)
		return
	}
	o := object{"feathers": a.feathers, "weight": a.weight(), "landed": a.landed()}
	if a.errand != nil {
		o["errands"] = []*errand{a.errand}
	}
	w.Header().Set("Content-Type", "application/json")
	reply(w, o)
}

// reply writes one object and sends it at once. A client that has gone away
// needs no answer.
func reply(w http.ResponseWriter, o object) {
	b, err := json.Marshal(o)
	if err != nil {
		b = []byte(`{"crash":{"why":"a bug"}}`)
	}
	_, _ = w.Write(append(b, '\n'))
	_ = http.NewResponseController(w).Flush()
}
