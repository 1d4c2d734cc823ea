package main

import "github.com/zchost/zchost/host/failpoint"

// failpointsCmd lists the steps at which a test build can be killed.
type failpointsCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run prints the names. A normal build has none.
func (c failpointsCmd) Run(a *app) error {
	if c.JSON {
		return a.printJSON(append([]failpoint.Name{}, failpoint.Names()...))
	}
	if !failpoint.Enabled() {
		return a.screen.Note("this build has no failpoints; one built with -tags failpoints does")
	}
	for _, name := range failpoint.Names() {
		if err := a.print("%s\n", name); err != nil {
			return err
		}
	}
	return nil
}
