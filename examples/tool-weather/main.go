// Command tool-weather is a tool plugin that sends requests: the weather at a
// place, from open-meteo.com, which needs no key. docs/adding-a-tool.md walks
// through it. The answers are described at https://open-meteo.com/en/docs and
// https://open-meteo.com/en/docs/geocoding-api.
package main

import (
	"net/url"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/tool"
)

type weather struct{}

func init() { tool.Register(weather{}) }

func main() {}

// Tools lists the one tool. It only reads.
func (weather) Tools(abi.Raw) ([]abi.ToolSpec, error) {
	return []abi.ToolSpec{{
		Name:        "weather",
		Description: "Tells the weather at a place now: temperature and wind.",
		InputSchema: abi.Raw(`{"type":"object","properties":{` +
			`"place":{"type":"string","minLength":2,"maxLength":100,"description":"The name of a town."}},` +
			`"required":["place"],"additionalProperties":false}`),
		Effect: abi.EffectRead,
	}}, nil
}

// Call finds the place, then asks for its weather.
func (weather) Call(c *tool.Call) (abi.ToolResult, error) {
	name, err := member(c.Arguments, "place")
	if err != nil {
		return abi.ToolResult{}, err
	}
	body, why := get(c, "https://geocoding-api.open-meteo.com/v1/search?count=1&name="+url.QueryEscape(text(name)))
	if why != "" {
		return tool.Failed(why), nil
	}
	place, err := first(body, "results")
	if err != nil || place == nil {
		return tool.Failed("There is no place named " + text(name) + "."), nil //nolint:nilerr // the model is told
	}
	at := func(key string) string { v, _ := member(place, key); return text(v) } // "" if it is not there
	body, why = get(c, "https://api.open-meteo.com/v1/forecast?current=temperature_2m,wind_speed_10m&latitude="+at("latitude")+"&longitude="+at("longitude"))
	if why != "" {
		return tool.Failed(why), nil
	}
	now, _ := member(body, "current") // what is missing shows as nothing
	units, _ := member(body, "current_units")
	value := func(key string) string {
		v, _ := member(now, key)
		u, _ := member(units, key)
		return text(v) + " " + text(u)
	}
	return tool.Text(at("name") + ", " + at("country") + ": " + value("temperature_2m") + ", wind " + value("wind_speed_10m")), nil
}

// get gets a document, or says for the model why there is none.
func get(c *tool.Call, address string) (body []byte, why string) {
	resp, err := c.HTTP(abi.HTTPRequest{Method: "GET", URL: address})
	switch {
	case err != nil:
		return nil, "The weather service cannot be reached: " + err.Error()
	case resp.Status != 200:
		return nil, "The weather service gives no answer now. Try again later."
	}
	return []byte(resp.Body), ""
}

// member returns a member of a JSON object, nil if it is not there.
func member(object []byte, name string) (value []byte, err error) {
	if len(object) == 0 {
		return nil, nil
	}
	s := jsonscan.New(object)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if string(key) == name {
			value = s.Raw()
		}
	}
	return value, s.End()
}

// first returns the first element of an array in an object.
func first(object []byte, name string) ([]byte, error) {
	list, err := member(object, name)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	s := jsonscan.New(list)
	if s.Array(); s.Elem() {
		return s.Raw(), nil
	}
	return nil, s.Err()
}

// text is a string as it reads, and any other value as it is written.
func text(value []byte) string {
	if len(value) > 0 && value[0] == '"' {
		s := jsonscan.New(value)
		return s.String()
	}
	return string(value)
}
