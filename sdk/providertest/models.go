package providertest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

// models: either both exports work, or both refuse.
func (r runner) models(t *testing.T) {
	query := abi.ModelsQuery{BaseURL: "https://provider.test/v1", Options: r.suite.Options}
	answer := abi.HTTPResponse{Status: 200, Body: "{}"}
	if !r.suite.ListsModels {
		for export, in := range map[string]document{abi.ExportModelsRequest: &query, abi.ExportModelsResponse: &answer} {
			if out, err := r.try(t, export, in.AppendJSON(nil)); err == nil {
				t.Errorf("%s returns %s, but the plugin lists no models", export, short(out))
			}
		}
		return
	}
	var out abi.HTTPRequest
	r.ask(t, abi.ExportModelsRequest, &query, &out)
	checkDestination(t, out, query.BaseURL)
	checkHeaders(t, out.Headers)
	for _, l := range r.suite.ModelLists {
		t.Run(l.Name, func(t *testing.T) { r.modelList(t, l) })
	}
	for _, body := range junkBodies() {
		in := abi.HTTPResponse{Status: 200, Body: body}
		var list abi.ModelList
		data, err := r.try(t, abi.ExportModelsResponse, in.AppendJSON(nil))
		if err != nil {
			continue // an error is an answer to junk, a panic is none
		}
		if err := list.DecodeJSON(data); err != nil || len(list.Models) > 0 {
			t.Errorf("the body %q gives the models %s, %v", body, short(data), err)
		}
	}
}

func (r runner) modelList(t *testing.T, l ModelList) {
	t.Helper()
	if l.Response.Status == 0 {
		l.Response.Status = 200
	}
	var list abi.ModelList
	r.ask(t, abi.ExportModelsResponse, &l.Response, &list)
	ids := make([]string, len(list.Models))
	for i, m := range list.Models {
		ids[i] = m.ID
		if m.Context < 0 || m.Output < 0 {
			t.Errorf("model %s has %d and %d tokens", m.ID, m.Context, m.Output)
		}
	}
	if diff := cmp.Diff(l.Want, ids); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
}
