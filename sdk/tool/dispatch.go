package tool

import (
	"errors"

	"github.com/zchost/zchost/abi"
	stdio "github.com/zchost/zchost/sdk/internal/guest"
)

// dispatcher answers the calls of exports. It holds nothing but memory that is
// used again: the output of a call is valid until the next one.
type dispatcher struct {
	plugin Plugin
	out    []byte
	outside
}

// call runs one export.
func (d *dispatcher) call(export string, in []byte) ([]byte, error) {
	if cap(d.out) > stdio.Keep {
		d.out = nil
	}
	d.out = d.out[:0]
	var err error
	switch export {
	case abi.ExportTools:
		err = d.tools(in)
	case abi.ExportCall:
		err = d.tool(in)
	default:
		err = errors.New("there is no export " + export)
	}
	return d.out, err
}

func (d *dispatcher) tools(in []byte) error {
	var q abi.ToolsQuery
	if err := q.DecodeJSON(in); err != nil {
		return err
	}
	specs, err := d.plugin.Tools(q.Options)
	if err != nil {
		return err
	}
	list := abi.ToolList{Tools: specs}
	d.out = list.AppendJSON(d.out)
	return nil
}

func (d *dispatcher) tool(in []byte) error {
	c := Call{outside: d.outside}
	if err := c.DecodeJSON(in); err != nil {
		return err
	}
	result, err := d.plugin.Call(&c)
	if err != nil {
		return err
	}
	d.out = result.AppendJSON(d.out)
	return nil
}
