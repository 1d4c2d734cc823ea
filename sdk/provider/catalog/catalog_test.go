package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/catalog"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

func readModel(s *jsonscan.Scanner) abi.Model {
	var m abi.Model
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return m
		}
		if string(key) == "id" {
			m.ID = lenient.String(s)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]abi.Model{
		`{"object":"list","data":[{"id":"a"},{"id":null},7,{"x":{}},{"id":"b","more":[1]}],"last":1}`: {{ID: "a"}, {ID: "b"}},
		`{"data":[]}`: {},
	} {
		got, err := catalog.Read(abi.HTTPResponse{Status: 200, Body: body}, "data", readModel)
		if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if diff := cmp.Diff(want, got.Models); diff != "" {
			t.Errorf("%s: -want +got:\n%s", body, diff)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `[]`, `{}`, `{"data":null}`, `{"data":{}}`, `{"models":[]}`, `{"data":[{"id":"a"}]`, `<html>`} {
		if got, err := catalog.Read(abi.HTTPResponse{URL: "http://x/models", Body: body}, "data", readModel); err == nil {
			t.Errorf("%q: no error, but %+v", body, got)
		}
	}
}
