package config

import "fmt"

// maxDepth is how many fallback profiles may follow each other (REL-1).
const maxDepth = 3

// Candidate is one model that may answer.
type Candidate struct {
	// Profile is the name of the [models.NAME] table that it comes from.
	Profile string
	// Provider is the name of the [providers.NAME] table.
	Provider string
	// Model is the model's name at the provider.
	Model string
}

// String is how a person names it: provider/model.
func (c Candidate) String() string { return c.Provider + "/" + c.Model }

// Candidates returns the models of a profile in the order in which they are
// asked: its own, then its fallback_models, then each fallback profile in the
// same way. A model that came before is left out (REL-1). There is an error
// for an unknown profile and for what Load refuses: a dangling name, a cycle,
// a row of fallbacks deeper than three.
func (c Config) Candidates(profile string) ([]Candidate, error) {
	e := expansion{config: c, profiles: map[string]bool{}, models: map[Candidate]bool{}}
	if err := e.add(profile, nil); err != nil {
		return nil, err
	}
	return e.list, nil
}

type expansion struct {
	config   Config
	profiles map[string]bool
	models   map[Candidate]bool
	list     []Candidate
}

func (e *expansion) add(profile string, path []string) error {
	m, ok := e.config.Models[profile]
	if !ok {
		return fmt.Errorf("expand profile %q: there is no [models.%s]", profile, profile)
	}
	for _, p := range path {
		if p == profile {
			return fmt.Errorf("expand profile %q: it falls back to itself", profile)
		}
	}
	if len(path) > maxDepth {
		return fmt.Errorf("expand profile %q: more than %d fallbacks in a row", path[0], maxDepth)
	}
	path = append(path[:len(path):len(path)], profile)
	if !e.profiles[profile] {
		e.profiles[profile] = true
		e.model(profile, m.Provider, m.Model)
		for _, name := range m.FallbackModels {
			e.model(profile, m.Provider, name)
		}
	}
	for _, name := range m.Fallback {
		if err := e.add(name, path); err != nil {
			return err
		}
	}
	return nil
}

func (e *expansion) model(profile, provider, model string) {
	key := Candidate{Provider: provider, Model: model}
	if e.models[key] {
		return
	}
	e.models[key] = true
	e.list = append(e.list, Candidate{Profile: profile, Provider: provider, Model: model})
}
