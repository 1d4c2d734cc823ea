package reliability

import "time"

// carefulHeads is how many good responses in a row end a key's care.
const carefulHeads = 8

// pace is how requests with one key to one model follow each other. Limits of
// vendors are mostly per key and model. After a 429 the key rests, and is then
// careful: one request at a time, in the order in which turns came, waits for
// its response's head, until carefulHeads in a row were good. So many turns do
// not come back at the same instant, a turn that waits for its place has not
// spent an attempt, and one that failed goes to the end of the line. It is
// guarded by its pool's lock.
type pace struct {
	until   time.Time // rests until then
	streak  int       // 429s in a row
	careful int       // so many good heads before requests go side by side again
	busy    bool      // a careful request is on its way
}

// good notes a good head; counted says that it was a careful request's.
func (p *pace) good(counted bool) {
	p.streak = 0
	if counted {
		p.careful--
	}
}

// limited notes a 429 that asks for a rest. When careful requests are refused
// again and again, the rest doubles, three times and up to most.
func (p *pace) limited(rest, most time.Duration, counted bool) {
	for range min(p.streak, 3) {
		if 2*rest <= most {
			rest *= 2
		}
	}
	if counted || p.streak == 0 {
		p.streak++
	}
	p.careful = carefulHeads
	if until := time.Now().Add(rest); until.After(p.until) {
		p.until = until
	}
}
