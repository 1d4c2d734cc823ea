package config

import (
	"maps"
	"slices"
	"strings"
)

// cost looks at rates and the currency.
func (k *checker) cost() {
	if c := k.config.Cost.Currency; len(c) == 3 && strings.Trim(c, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		k.add("cost.currency", quote(c)+" is no currency", `write its three capital letters, as "EUR"`)
	}
	models := k.config.asked()
	for _, name := range slices.Sorted(maps.Keys(k.config.Cost.Rates)) {
		key, rate := join("cost.rates", name), k.config.Cost.Rates[name]
		if k.lost != lostRest && !slices.Contains(models, name) {
			k.add(key, "no profile asks this model", suggest(name, models))
		}
		for _, price := range []struct {
			key    string
			exists bool
		}{{"input", rate.Input != nil}, {"output", rate.Output != nil}} {
			if !price.exists {
				k.missing(key+"."+price.key, "write what a million tokens cost; 0 if they cost nothing")
			}
		}
	}
}

// asked returns all models that profiles name, as "provider/model".
func (c Config) asked() []string {
	var list []string
	for _, m := range c.Models {
		for _, model := range append([]string{m.Model}, m.FallbackModels...) {
			if m.Provider != "" && model != "" {
				list = append(list, m.Provider+"/"+model)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Unpriced returns the models that profiles name and that have no rate, as
// "provider/model". With a budget each is a hole in it: what it costs is not
// counted.
func (c Config) Unpriced() []string {
	return slices.DeleteFunc(c.asked(), func(name string) bool {
		_, priced := c.Cost.Rates[name]
		return priced
	})
}
