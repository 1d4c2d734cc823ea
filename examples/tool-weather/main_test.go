package main

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/tool"
	"github.com/zchost/zchost/sdk/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service answers as open-meteo.com does.
func service(r abi.HTTPRequest) abi.HTTPResponse {
	switch {
	case strings.Contains(r.URL, "name=Nowhere"):
		return abi.HTTPResponse{Status: 200, Body: `{"generationtime_ms":0.5}`}
	case strings.Contains(r.URL, "name=Broken"):
		return abi.HTTPResponse{Status: 502, Body: `<h1>Bad gateway</h1>`}
	case strings.Contains(r.URL, "name=Far"):
		return abi.HTTPResponse{Failure: &abi.Failure{Class: abi.FailureNetwork, Message: "no route"}}
	case r.URL == "https://geocoding-api.open-meteo.com/v1/search?count=1&name=Z%C3%BCrich":
		return abi.HTTPResponse{Status: 200, Body: `{"results":[{"name":"Zürich","latitude":47.36667,"longitude":8.55,"country":"Switzerland"}]}`}
	case r.URL == "https://api.open-meteo.com/v1/forecast?current=temperature_2m,wind_speed_10m&latitude=47.36667&longitude=8.55":
		return abi.HTTPResponse{Status: 200, Body: `{"current_units":{"temperature_2m":"°C","wind_speed_10m":"km/h"},"current":{"temperature_2m":18.5,"wind_speed_10m":7}}`}
	}
	return abi.HTTPResponse{Status: 404}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	tooltest.Run(t, tool.Native(weather{}, service), tooltest.Suite{Cases: []tooltest.Case{
		{Tool: "weather", Arguments: `{"place":"Zürich"}`, Want: tool.Text("Zürich, Switzerland: 18.5 °C, wind 7 km/h")},
		{Tool: "weather", Arguments: `{"place":"Nowhere"}`, Want: tool.Failed("There is no place named Nowhere.")},
		{Tool: "weather", Arguments: `{"place":"Broken"}`, Want: tool.Failed("The weather service gives no answer now. Try again later.")},
		{Tool: "weather", Arguments: `{"place":"Far"}`, Want: tool.Failed("The weather service cannot be reached: no route")},
	}})
}
