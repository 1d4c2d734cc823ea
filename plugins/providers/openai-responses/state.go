package main

import (
	"strconv"
	"strings"
)

// state is what is remembered of the frames before: which items of the output
// there were, so that each is told once, whether its contents come in pieces,
// with its end, or only with the end of the response.
//
// It also holds half a character if a text ended within one: programs whose
// strings are UTF-16, as gateways are, cut between the halves of a surrogate pair
// (C008).
//
// In Decoder.State it is a head and, with ; in front of each, the items.
type state struct {
	told    bool  // m: id and model were told
	refused bool  // r: some of the text was a refusal
	last    int64 // the place of the item that the last piece belonged to, -1 if none
	calls   int64 // how many calls there were: the index of the next one
	half    rune  // the high half that the last piece ended with, 0 if none
	thought bool  // t: that was reasoning
	rest    string
	items   []item
	loaded  bool // rest was read into items
	changed bool
}

// item is an item of the output.
type item struct {
	place int64  // output_index, -1 if there was none
	id    uint32 // of its id, 0 if there was none
	call  uint32 // of its call_id
	index int64  // its place among the calls, -1 if it is no call
	begun bool   // b: pieces of its contents have come
	named bool   // n: the name of the call was told
	done  bool   // d: it is complete
}

// lost is what becomes of half a character whose other half does not come.
const lost = "\uFFFD"

const (
	// maxItems bounds the items of a response, so that the state stays small.
	maxItems = 2000
	// maxPlace bounds an output_index.
	maxPlace = 1 << 30
)

func readState(text string) state {
	s := state{last: -1}
	head, rest, _ := strings.Cut(text, ";")
	s.rest = rest
	for head != "" && head[0] > '9' {
		s.told = s.told || head[0] == 'm'
		s.refused = s.refused || head[0] == 'r'
		s.thought = s.thought || head[0] == 't'
		head = head[1:]
	}
	last, head, _ := strings.Cut(head, ",")
	calls, half, _ := strings.Cut(head, ",")
	s.last, s.calls = readNumber(last, -1), readNumber(calls, 0)
	if n, err := strconv.ParseUint(half, 16, 16); err == nil {
		s.half = rune(n)
	}
	return s
}

func readNumber(text string, otherwise int64) int64 {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return otherwise
	}
	return int64(n)
}

func readHash(text string) uint32 {
	n, err := strconv.ParseUint(text, 16, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

// load reads the items.
func (s *state) load() []item {
	if s.loaded {
		return s.items
	}
	s.loaded = true
	for rest := s.rest; rest != "" && len(s.items) < maxItems; {
		var text string
		text, rest, _ = strings.Cut(rest, ";")
		s.items = append(s.items, readItem(text))
	}
	return s.items
}

func readItem(text string) item {
	var fields [4]string
	for i := range fields {
		fields[i], text, _ = strings.Cut(text, ",")
	}
	return item{
		place: readNumber(fields[0], -1), id: readHash(fields[1]), call: readHash(fields[2]), index: readNumber(fields[3], -1),
		begun: strings.Contains(text, "b"), named: strings.Contains(text, "n"), done: strings.Contains(text, "d"),
	}
}

func (s *state) String() string {
	b := make([]byte, 0, 32+len(s.rest))
	if s.told {
		b = append(b, 'm')
	}
	if s.refused {
		b = append(b, 'r')
	}
	if s.thought {
		b = append(b, 't')
	}
	if s.last >= 0 {
		b = strconv.AppendInt(b, s.last, 10)
	}
	b = strconv.AppendInt(append(b, ','), s.calls, 10)
	if s.half != 0 {
		b = strconv.AppendInt(append(b, ','), int64(s.half), 16)
	}
	if !s.loaded {
		if s.rest == "" {
			return string(b)
		}
		return string(append(append(b, ';'), s.rest...))
	}
	for i := range s.items {
		b = s.items[i].append(append(b, ';'))
	}
	return string(b)
}

func (t *item) append(b []byte) []byte {
	if t.place >= 0 {
		b = strconv.AppendInt(b, t.place, 10)
	}
	b = strconv.AppendUint(append(b, ','), uint64(t.id), 16)
	b = strconv.AppendUint(append(b, ','), uint64(t.call), 16)
	b = append(b, ',')
	if t.index >= 0 {
		b = strconv.AppendInt(b, t.index, 10)
	}
	b = append(b, ',')
	for _, f := range []struct {
		is     bool
		letter byte
	}{{t.begun, 'b'}, {t.named, 'n'}, {t.done, 'd'}} {
		if f.is {
			b = append(b, f.letter)
		}
	}
	return b
}

// hash is FNV-1a of an id, 0 for none. Ids are only ever compared within one
// response, and some servers' are hundreds of bytes long.
func hash(id string) uint32 {
	if id == "" {
		return 0
	}
	h := uint32(2166136261)
	for i := range len(id) {
		h = (h ^ uint32(id[i])) * 16777619
	}
	return max(h, 1)
}

// find returns the item that an event speaks of, nil if there is none. An id
// decides if it is known at that place, whether it is the item's or, of a call,
// the call's. There are servers that give an item another id in each event, and
// then the place alone does; and without anything it is the item that is open.
func (s *state) find(place int64, id, call uint32) *item {
	items := s.load()
	var byPlace, open *item
	for i := len(items) - 1; i >= 0; i-- {
		t := &items[i]
		near := place < 0 || t.place < 0 || t.place == place
		if near && ((id != 0 && t.id == id) || (call != 0 && t.call == call)) {
			return t
		}
		if t.done {
			continue
		}
		if byPlace == nil && place >= 0 && t.place == place {
			byPlace = t
		}
		if open == nil {
			open = t
		}
	}
	if place < 0 && id == 0 && call == 0 {
		return open
	}
	return byPlace
}

// findAgain returns the item that is found once more in the whole response, among
// the first n: those that the events before it spoke of. Its place there need
// not be the one that the events gave.
func (s *state) findAgain(place int64, id, call uint32, n int) *item {
	var byPlace *item
	for i := range s.load()[:n] {
		t := &s.items[i]
		if (id != 0 && t.id == id) || (call != 0 && t.call == call) {
			return t
		}
		if t.place == place {
			byPlace = t
		}
	}
	return byPlace
}

// add adds an item. It returns nil if there are too many.
func (s *state) add(place int64, id, call uint32, isCall bool) *item {
	if len(s.load()) >= maxItems {
		return nil
	}
	t := item{place: place, id: id, call: call, index: -1}
	if isCall {
		t.index = s.calls
		s.calls++
	}
	s.items = append(s.items, t)
	s.last, s.changed = -1, true
	return &s.items[len(s.items)-1]
}
