package egress

import "bytes"

const maxNames = 32

// event gathers the lines of one server-sent event (WHATWG HTML, section 9.2).
// id and retry are of no use to us: a stream is never resumed (REL-2).
//
// Besides, builds of llama.cpp of 2025 report what fails in the middle of an
// answer in a field of their own making, error, and then end as if all were
// well.
type event struct {
	name  string
	fault []byte // the values of the field error, each behind an LF; nil if there is none
	data  []byte // in the read buffer; or, if held, arena[mark:]
	lines int    // data lines so far
	held  bool
	arena []byte // data of several lines, or of several reads
	mark  int    // where the data of this event begins
	names map[string]string
}

// line takes one line. ok says that the event is over the limit if false.
func (e *event) line(line []byte) (ok bool) {
	field, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(field) { // a comment's is empty
	case "data":
		return e.add(value)
	case "event":
		e.name = e.intern(value)
	case "error":
		e.fault = append(append(e.fault, '\n'), value...) // rare, so it is copied
		return len(e.fault)-1 <= MaxFrame
	}
	return true
}

func (e *event) add(value []byte) bool {
	if e.lines++; e.lines == 1 {
		e.data = value // the usual event is one line, and is not copied
		return true
	}
	e.hold()
	e.arena = append(append(e.arena, '\n'), value...)
	return len(e.arena)-e.mark <= MaxFrame
}

// hold copies the data out of the read buffer, which is about to change.
func (e *event) hold() {
	if e.lines > 0 && !e.held {
		e.arena = append(e.arena, e.data...)
		e.held = true
	}
}

// take returns the event and begins the next one. The data is nil if there was
// no data line, and the fault if there was no field error.
func (e *event) take() (data []byte, name string, fault []byte) {
	data, name = e.data, e.name
	if e.fault != nil {
		fault = e.fault[1:]
	}
	if e.held {
		data = e.arena[e.mark:len(e.arena):len(e.arena)]
	}
	e.mark = len(e.arena)
	e.name, e.data, e.fault, e.lines, e.held = "", nil, nil, 0, false
	return data, name, fault
}

// reset frees the data of events that were taken.
func (e *event) reset() {
	if e.mark == 0 {
		return
	}
	pending := e.arena[e.mark:]
	if cap(e.arena) > maxRead {
		e.arena = bytes.Clone(pending) // one large event does not hold its memory for ever
	} else {
		e.arena = append(e.arena[:0], pending...)
	}
	e.mark = 0
}

// intern returns name as a string, the same one for each of the few names that
// a stream has.
func (e *event) intern(name []byte) string {
	if s, ok := e.names[string(name)]; ok {
		return s
	}
	if e.names == nil {
		e.names = make(map[string]string)
	}
	s := string(name)
	if len(e.names) < maxNames {
		e.names[s] = s
	}
	return s
}
