package provider

import (
	"errors"
	"strconv"

	"github.com/zchost/zchost/abi"
	stdio "github.com/zchost/zchost/sdk/internal/guest"
)

// dispatcher answers the calls of exports. It holds nothing but memory that is
// used again: the output of a call is valid until the next one.
type dispatcher struct {
	provider Provider
	out      []byte
	decoder  Decoder
}

// document is an abi document.
type document interface {
	AppendJSON(dst []byte) []byte
	DecodeJSON(data []byte) error
}

// call runs one export.
func (d *dispatcher) call(export string, in []byte) ([]byte, error) {
	if cap(d.out) > stdio.Keep {
		d.out = nil
	}
	d.out = d.out[:0]
	var err error
	switch export {
	case abi.ExportChatEvents:
		err = d.events(in)
	case abi.ExportChatMessages:
		err = d.messages(in)
	case abi.ExportChatRequest:
		err = answer(d, in, d.provider.Request)
	case abi.ExportChatResponse:
		err = d.response(in)
	case abi.ExportChatError:
		err = d.failure(in)
	case abi.ExportModelsRequest, abi.ExportModelsResponse:
		err = d.models(export, in)
	default:
		err = errors.New("there is no export " + export)
	}
	return d.out, err
}

// answer decodes a document, gives it to a method, and encodes what that returns.
func answer[In, Out any, PIn pointer[In], POut pointer[Out]](d *dispatcher, in []byte, method func(In) (Out, error)) error {
	var v In
	if err := PIn(&v).DecodeJSON(in); err != nil {
		return err
	}
	out, err := method(v)
	if err != nil {
		return err
	}
	d.out = POut(&out).AppendJSON(d.out)
	return nil
}

type pointer[T any] interface {
	*T
	document
}

func (d *dispatcher) messages(in []byte) error {
	return answer(d, in, func(m abi.ChatMessages) (abi.ChatFragments, error) {
		fragments, err := d.provider.Messages(m)
		if err == nil && len(fragments) != len(m.Messages) {
			err = errors.New(strconv.Itoa(len(fragments)) + " fragments for " + strconv.Itoa(len(m.Messages)) + " messages")
		}
		return abi.ChatFragments{Fragments: fragments}, err
	})
}

func (d *dispatcher) response(in []byte) error {
	return answer(d, in, func(r abi.HTTPResponse) (abi.ChatEvents, error) {
		events, err := d.provider.Response(r)
		return abi.ChatEvents{Events: events}, err
	})
}

func (d *dispatcher) failure(in []byte) error {
	return answer(d, in, func(r abi.HTTPResponse) (abi.Failure, error) { return d.provider.Error(r), nil })
}

func (d *dispatcher) models(export string, in []byte) error {
	m, ok := d.provider.(Models)
	switch {
	case !ok:
		return errors.New("this plugin lists no models")
	case export == abi.ExportModelsRequest:
		return answer(d, in, m.ModelsRequest)
	}
	return answer(d, in, m.ModelsResponse)
}

// events is the hot path: a sequence in, a sequence out.
func (d *dispatcher) events(in []byte) error {
	header, frames, err := readHeader(in)
	if err != nil {
		return err
	}
	d.decoder.State = header.State
	clear(d.decoder.Events) // so that the texts of the call before can be freed
	d.decoder.Events = d.decoder.Events[:0]
	if err := d.frames(header.Names, frames); err != nil {
		return err
	}
	if len(d.decoder.State) > abi.MaxState {
		return errors.New("the state has " + strconv.Itoa(len(d.decoder.State)) + " bytes, more than " + strconv.Itoa(abi.MaxState))
	}
	d.out = abi.AppendHeader(d.out, &abi.EventsHeader{State: d.decoder.State})
	for i := range d.decoder.Events {
		d.out = abi.AppendEvent(d.out, &d.decoder.Events[i])
	}
	return nil
}

func readHeader(in []byte) (header abi.EventsHeader, frames []byte, err error) {
	text, frames, ok, err := abi.NextRecord(in)
	switch {
	case err != nil:
		return header, nil, err
	case !ok:
		return header, nil, errors.New("sequence: no header")
	}
	return header, frames, header.DecodeJSON(text)
}

func (d *dispatcher) frames(names []string, frames []byte) error {
	for n := 0; ; n++ {
		frame, rest, ok, err := abi.NextRecord(frames)
		if err != nil {
			return err
		}
		if !ok {
			if len(names) > 0 && len(names) != n {
				return errors.New(strconv.Itoa(len(names)) + " names for " + strconv.Itoa(n) + " frames")
			}
			return nil
		}
		name := ""
		if n < len(names) {
			name = names[n]
		}
		if err := d.provider.Frame(&d.decoder, frame, name); err != nil {
			return err
		}
		frames = rest
	}
}
