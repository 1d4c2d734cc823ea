package providertest_test

import (
	"encoding/json"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// fake is a provider whose wire is abi.Event as JSON, a frame each, and [DONE].
// It makes the mistake that its fault names.
type fake struct {
	fault string
	calls *int
}

// is reports whether the fake makes a mistake now.
func (f fake) is(fault string) bool { return f.fault == fault }

func (f fake) Messages(in abi.ChatMessages) ([]string, error) {
	*f.calls++
	fragments := make([]string, len(in.Messages))
	for i, m := range in.Messages {
		text, images, signatures, opaque := "", []string{}, []string{}, []json.RawMessage{}
		for _, p := range m.Parts {
			text += p.Text + p.Name
			if p.Blob != "" && !f.is("image is left out") {
				images = append(images, "{{blob:"+p.Blob+"}}")
			}
			if p.Signature != "" && !f.is("signature is lost") {
				signatures = append(signatures, p.Signature)
			}
			switch {
			case p.Opaque == "":
			case f.is("opaque part is changed"):
				opaque = append(opaque, json.RawMessage("{}"))
			case f.is("opaque parts change places"):
				opaque = append([]json.RawMessage{json.RawMessage(p.Opaque)}, opaque...)
			default:
				opaque = append(opaque, json.RawMessage(p.Opaque))
			}
		}
		b, err := json.Marshal(map[string]any{"role": m.Role, "text": text, "images": images, "signatures": signatures, "opaque": opaque})
		if err != nil {
			return nil, err
		}
		fragments[i] = string(b)
		switch {
		case f.is("fragment is no JSON"):
			fragments[i] = text
		case f.is("fragment depends on neighbours") && i > 0:
			fragments[i] = `{"role":"later","text":` + string(b) + "}"
		case f.is("fragment without text"):
			fragments[i] = `{"role":"user"}`
		case f.is("fragment is not pure"):
			fragments[i] = `["` + strings.Repeat("x", *f.calls) + `",` + string(b) + `]`
		}
	}
	return fragments, nil
}

func (f fake) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
	if f.is("request fails") {
		panic("no request")
	}
	body := `{"model":"` + r.Model + `","messages":["{{messages}}"]`
	if r.Stream && !f.is("stream is not asked for") {
		body += `,"stream":true`
	}
	out := abi.HTTPRequest{
		URL:     r.BaseURL + "/chat",
		Headers: []abi.Header{{Name: "Authorization", Value: "Bearer {{secret:api_key}}"}},
		Body:    body + "}",
	}
	switch f.fault {
	case "request elsewhere":
		out.URL = "https://elsewhere.test/v1/chat"
	case "request beside":
		out.URL = r.BaseURL + "beside/chat"
	case "header of the host":
		out.Headers = append(out.Headers, abi.Header{Name: "Host", Value: "x"})
	case "secret in the body":
		out.Body = `{"key":"{{secret:api_key}}",` + out.Body[1:]
	case "messages twice":
		out.Body = `{"again":["{{messages}}"],` + out.Body[1:]
	case "messages outside an array":
		out.Body = `{"model":"` + r.Model + `","messages":"{{messages}}"}`
	case "script":
		out.Script = &abi.Script{}
	}
	return out, nil
}

func (f fake) Frame(d *provider.Decoder, data []byte, _ string) error {
	*f.calls++
	if f.is("frame count outside the state") {
		d.Text(strings.Repeat("x", *f.calls))
	}
	if string(data) == "[DONE]" || f.is("junk is the end") {
		d.Done()
		return nil
	}
	var e abi.Event
	if err := e.DecodeJSON(data); err != nil {
		if f.is("junk is ignored") {
			return nil
		}
		if f.is("junk is a bug") {
			return err
		}
		d.Fail(abi.Failure{Class: abi.FailureServer, Message: err.Error()})
		return nil
	}
	if e.Type == "" {
		return nil
	}
	switch {
	case f.is("unknown type"):
		e.Type = "unheard"
	case f.is("field of another type"):
		e.Raw = "raw"
	case f.is("index below zero"):
		e.Index = new(int64)
		*e.Index = -1
	case f.is("first event of later calls is lost") && len(d.Events) == 0 && d.State != "":
		return nil
	}
	d.State = "begun"
	d.Emit(e)
	return nil
}

func (f fake) Response(r abi.HTTPResponse) ([]abi.Event, error) {
	var all abi.ChatEvents
	if err := all.DecodeJSON([]byte(r.Body)); err != nil || len(all.Events) == 0 {
		if f.is("junk is an answer") {
			return []abi.Event{{Type: abi.EventFinish, Reason: abi.FinishStop}, {Type: abi.EventDone}}, nil
		}
		failure := f.Error(r)
		return []abi.Event{{Type: abi.EventFailure, Failure: &failure}}, nil
	}
	return all.Events, nil
}

func (f fake) Error(r abi.HTTPResponse) abi.Failure {
	out := abi.Failure{Class: abi.FailureUnknown, Status: r.Status, Message: "it failed"}
	for status, class := range map[int64]abi.FailureClass{
		400: abi.FailureInvalidRequest, 401: abi.FailureAuth, 403: abi.FailureAuth, 408: abi.FailureTimeout, 429: abi.FailureRateLimited,
		500: abi.FailureServer, 502: abi.FailureServer, 503: abi.FailureOverloaded, 529: abi.FailureOverloaded,
	} {
		if r.Status == status {
			out.Class = class
		}
	}
	switch {
	case f.is("class by a word") && strings.Contains(r.Body, "overloaded"):
		out.Class = abi.FailureOverloaded
	case f.is("class that nobody knows"):
		out.Class = "bad"
	case f.is("auth is unknown") && r.Status == 401:
		out.Class = abi.FailureUnknown
	case f.is("status is lost"):
		out.Status = 0
	}
	return out
}

// lister is a fake with models.
type lister struct{ fake }

func (f lister) ModelsRequest(q abi.ModelsQuery) (abi.HTTPRequest, error) {
	return abi.HTTPRequest{Method: "GET", URL: q.BaseURL + "/models"}, nil
}

func (f lister) ModelsResponse(r abi.HTTPResponse) (abi.ModelList, error) {
	if f.is("model out of nothing") {
		return abi.ModelList{Models: []abi.Model{{ID: "x"}}}, nil
	}
	var list abi.ModelList
	err := list.DecodeJSON([]byte(r.Body))
	return list, err
}
