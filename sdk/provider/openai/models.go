package openai

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/catalog"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// Models reads {"data":[{"id":…}]}. The limits have no place in OpenAI's form;
// OpenRouter, Groq, vLLM and others add them, each under its own name. It is an error
// if the body is no such list.
func Models(r abi.HTTPResponse) (abi.ModelList, error) {
	return catalog.Read(r, "data", readModel)
}

func readModel(s *jsonscan.Scanner) abi.Model {
	var m abi.Model
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return m
		}
		switch string(key) {
		case "id":
			m.ID = lenient.String(s)
		case "context_length", "context_window", "max_model_len", "max_context_length":
			m.Context, _ = lenient.Int(s)
		case "max_completion_tokens", "max_output_tokens":
			m.Output, _ = lenient.Int(s)
		case "top_provider": // OpenRouter's
			if s.Kind() == jsonscan.Object {
				m.Output = max(m.Output, readModel(s).Output)
			}
		}
	}
}
