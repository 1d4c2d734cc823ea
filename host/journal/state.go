package journal

// State is where a turn stands. docs/state-machine.md draws the machine; a
// test holds the drawing and the table below together.
type State string

// The states of a turn. All but Queued and Running are ends: a turn never
// leaves them.
const (
	// Queued waits for the session's earlier turns.
	Queued State = "queued"
	// Running is worked on; a session has at most one such turn.
	Running State = "running"
	// Complete has its whole answer.
	Complete State = "complete"
	// Incomplete has an answer that the model or a limit cut short (STR-5).
	Incomplete State = "incomplete"
	// Interrupted was stopped in the middle by nobody's wish: by a broken
	// stream or by a restart.
	Interrupted State = "interrupted"
	// Cancelled was stopped by its user or client, in the middle (marker
	// turn-interrupted-by-user) or before it began.
	Cancelled State = "cancelled"
	// Failed ended without an answer.
	Failed State = "failed"
)

// Transition is one way of a turn from a state to another.
type Transition struct {
	// Name says what happens.
	Name string
	// From and To are the states before and after.
	From, To State
}

// Transitions returns the whole machine. Admission makes a turn, as Running
// when its session is idle, else as Queued.
func Transitions() []Transition {
	return []Transition{
		{"start", Queued, Running},
		{"drop", Queued, Cancelled},
		{"lose", Queued, Interrupted},
		{"complete", Running, Complete},
		{"cut", Running, Incomplete},
		{"interrupt", Running, Interrupted},
		{"cancel", Running, Cancelled},
		{"fail", Running, Failed},
	}
}

// Ended reports whether s is an end.
func (s State) Ended() bool {
	return s != Queued && s != Running
}

// canBecome reports whether a turn may go from s to another state.
func (s State) canBecome(to State) bool {
	for _, t := range Transitions() {
		if t.From == s && t.To == to {
			return true
		}
	}
	return false
}
