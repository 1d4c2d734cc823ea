package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestFly(t *testing.T) {
	t.Parallel()
	human := func(says string) string { return `{"by":"human","lines":["` + says + `"]}` }
	for name, c := range map[string]struct {
		key, bird, letter string
		flock             bool
		status            int
		want              []string // lines
	}{
		"stream":  {"k", "pigeon", human("coo coo"), true, 200, []string{`{"feather":"coo "}`, `{"feather":"coo"}`, `{"weight":{"gave":2,"took":1}}`, `{"landed":"home"}`}},
		"whole":   {"k", "pigeon", human("coo coo"), false, 200, []string{`{"feathers":["coo ","coo"],"landed":"home","weight":{"gave":2,"took":1}}`}},
		"errand":  {"k", "pigeon", human(`send look {}`), true, 200, []string{`{"thinks":"I have to fly."}`, `{"errand":{"no":"e1","title":"look","form":{}}}`, `{"weight":{"gave":0,"took":1}}`, `{"landed":"errands"}`}},
		"report":  {"k", "pigeon", `{"by":"errand","no":"e1","report":"fog","bad":false}`, false, 200, []string{`{"feathers":["the ","report: ","fog"],"landed":"home","weight":{"gave":3,"took":1}}`}},
		"storm":   {"k", "pigeon", human("storm"), true, 200, []string{`{"feather":"hail "}`, `{"crash":{"sort":"storm","why":"a storm"}}`}},
		"no bird": {"k", "dodo", human("coo"), true, 404, []string{`{"crash":{"sort":"unknown_bird","why":"there is no dodo here"}}`}},
		"no key":  {"x", "pigeon", human("coo"), true, 401, []string{`{"crash":{"sort":"","why":"a strange ring"}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flock := ""
			if c.flock {
				flock = `"flock":true,`
			}
			r := httptest.NewRequest(http.MethodPost, "/fly", strings.NewReader(`{"bird":"`+c.bird+`",`+flock+`"errands":[{"title":"look"}],"letters":[`+c.letter+`]}`))
			r.Header.Set("Ring", c.key)
			w := httptest.NewRecorder()
			handler("k", 0).ServeHTTP(w, r)
			if want := strings.Join(c.want, "\n") + "\n"; w.Code != c.status || w.Body.String() != want {
				t.Errorf("%d %s\nwant %d %s", w.Code, w.Body, c.status, want)
			}
		})
	}
}
