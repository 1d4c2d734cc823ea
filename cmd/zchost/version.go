package main

import (
	"runtime"

	"github.com/zchost/zchost/abi"
)

// versionCmd prints the version.
type versionCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// versionJSON is what `version --json` prints.
type versionJSON struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
	ABI     int    `json:"abi"`
}

// Run prints the version.
func (c versionCmd) Run(a *app) error {
	v := versionJSON{Version: version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, ABI: abi.Version}
	if c.JSON {
		return a.printJSON(v)
	}
	return a.print("zchost %s (%s, %s, plugin ABI %d)\n", v.Version, v.Go, v.System, v.ABI)
}
