package journal

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/zchost/zchost/abi"
)

// Message is one message of a session's transcript.
type Message struct {
	// ID is the message's number in the journal; AddMessage gives it.
	ID int64
	// Session is the session's number; AddMessage takes it from the turn.
	Session int64
	// Turn is the id of the turn that the message belongs to.
	Turn string
	// Role is who it is from.
	Role abi.Role
	// Parts are its contents.
	Parts []abi.Part
	// Marker is the code of the marker beside the text; may be empty (MRK-1).
	Marker string
	// Candidate is the "provider/model" whose text it is; may be empty.
	Candidate string
	// Fallback says that Candidate is not the profile's first. It is the
	// turn's, and not stored with the message.
	Fallback bool
	// Created is when it was stored.
	Created time.Time
}

// Session is a conversation.
type Session struct {
	// ID is the session's number in the journal.
	ID int64
	// Key is its name, which is opaque data.
	Key string
	// Agent is the agent of its first turn.
	Agent string
	// Created and Updated are when its first and its last turn were admitted.
	Created, Updated time.Time
	// Turns counts its turns.
	Turns int64
}

func encodeParts(parts []abi.Part) (string, error) {
	b, err := json.Marshal(parts)
	if err != nil {
		return "", fmt.Errorf("encode message parts: %w", err)
	}
	return string(b), nil
}

func decodeParts(text string) ([]abi.Part, error) {
	var parts []abi.Part
	if err := json.Unmarshal([]byte(text), &parts); err != nil {
		return nil, fmt.Errorf("decode message parts: %w", err)
	}
	return parts, nil
}
