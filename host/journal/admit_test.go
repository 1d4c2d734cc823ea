package journal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// TestAdmit checks ADM-1: one commit makes everything durable.
func TestAdmit(t *testing.T) {
	t.Parallel()
	j := open(t)
	before := j.Stats()
	turn, repeated, err := j.Admit(t.Context(), journal.Admission{
		Account: "bot", ExternalID: "42", Session: "s", Agent: "main", Surface: "telegram", Sender: "ada",
		Text: "hello", Plugins: []string{"demo@1"}, DeliveryMode: "final", Conversation: "c", Thread: "th",
	})
	if err != nil || repeated {
		t.Fatal(repeated, err)
	}
	if got := j.Stats(); got.Commits-before.Commits != 1 || got.Syncs-before.Syncs != 1 {
		t.Errorf("took %+v after %+v, want one commit that waited for the disk", got, before)
	}
	stored, err := j.Turn(t.Context(), turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(turn, stored); d != "" {
		t.Errorf("returned and stored turn differ:\n%s", d)
	}
	want := journal.Turn{
		SessionID: 1, Session: "s", Agent: "main", Seq: 1, State: journal.Running, Text: "hello", Surface: "telegram",
	}
	if d := cmp.Diff(want, turn, cmpopts.IgnoreFields(journal.Turn{}, "ID", "Created", "Started")); d != "" {
		t.Error(d)
	}
	messages, err := j.Messages(t.Context(), turn.SessionID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]journal.Message{{
		ID: 1, Session: 1, Turn: turn.ID, Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: "hello"}},
		Created: turn.Created,
	}}, messages); d != "" {
		t.Error(d)
	}
	claim, err := j.Claim(t.Context(), turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(journal.Claim{
		Turn: turn.ID, Boot: j.Boot(), Inbox: 1, DeliveryMode: "final", Conversation: "c", Thread: "th",
		Requester: "ada", Plugins: []string{"demo@1"},
	}, claim, cmpopts.IgnoreFields(journal.Claim{}, "DeliveryID")); d != "" {
		t.Error(d)
	}
	if claim.DeliveryID == "" {
		t.Error("no delivery id")
	}
}

// TestAdmitRepeated checks ADM-2: the same key, however often and at the same
// time, is one turn.
func TestAdmitRepeated(t *testing.T) {
	t.Parallel()
	j := open(t)
	ids := make(chan string, 64)
	var all sync.WaitGroup
	var fresh sync.Map
	for i := range cap(ids) {
		all.Go(func() {
			turn, repeated, err := j.Admit(t.Context(), journal.Admission{
				Account: "a", ExternalID: "same", Session: fmt.Sprint(i % 2), Text: fmt.Sprint(i),
			})
			if err != nil {
				t.Error(err)
			}
			if !repeated {
				fresh.Store(i, turn.Text)
			}
			ids <- turn.ID
		})
	}
	all.Wait()
	first := <-ids
	for range cap(ids) - 1 {
		if id := <-ids; id != first {
			t.Errorf("turn %s, want %s", id, first)
		}
	}
	n := 0
	fresh.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d were told to be the first", n)
	}
	other, repeated, err := j.Admit(t.Context(), journal.Admission{Account: "b", ExternalID: "same"})
	if err != nil || repeated || other.ID == first {
		t.Errorf("another account's message counted as the same: %v %v", repeated, err)
	}
}

// TestAdmitSessionKeys checks C154: a key is data, and distinct keys share
// nothing.
func TestAdmitSessionKeys(t *testing.T) {
	t.Parallel()
	j := open(t)
	keys := []string{
		"", "../../etc/x", "a/b", "a:b", "a_b", "A_b", "CON", "T0123.C456.1700000000.000100", "a b", " a", "a ",
		"é", "e\u0301", "%", "'; DROP TABLE turns; --", strings.Repeat("k", journal.MaxKey), strings.Repeat("🚲", 256),
		"\ufeff", "\x01", "\u202e", "\U0010FFFF",
	}
	ids := make(map[int64]string)
	for _, k := range keys {
		turn, _, err := j.Admit(t.Context(), journal.Admission{Session: k})
		if err != nil {
			t.Errorf("%q: %v", k, err)
			continue
		}
		if other, taken := ids[turn.SessionID]; taken {
			t.Errorf("%q shares its session with %q", k, other)
		}
		ids[turn.SessionID] = k
		if s, err := j.Session(t.Context(), k); err != nil || s.Key != k || s.ID != turn.SessionID {
			t.Errorf("%q is stored as %+v, %v", k, s, err)
		}
	}
}

// FuzzSessionKey checks C154 with any bytes: a key is stored as it is, or
// refused with a typed error.
func FuzzSessionKey(f *testing.F) {
	for _, k := range []string{"", "a", "../x", "a\x00b", "\xff", "🚲", strings.Repeat("k", journal.MaxKey+1)} {
		f.Add(k)
	}
	j := open(f)
	f.Fuzz(func(t *testing.T, key string) {
		turn, _, err := j.Admit(context.Background(), journal.Admission{Session: key})
		if err != nil {
			var invalid *journal.InvalidError
			if !errors.As(err, &invalid) {
				t.Fatal(err)
			}
			return
		}
		if s, err := j.Session(context.Background(), key); err != nil || s.Key != key || s.ID != turn.SessionID {
			t.Errorf("%q is stored as %+v, %v", key, s, err)
		}
	})
}

// TestAdmitInvalid checks that what cannot be stored gets one typed error, and
// leaves nothing.
func TestAdmitInvalid(t *testing.T) {
	t.Parallel()
	j := open(t)
	long := strings.Repeat("x", journal.MaxKey+1)
	for name, a := range map[string]journal.Admission{
		"session":       {Session: strings.Repeat("🚲", 1024)},
		"account":       {Account: "a\x00b"},
		"message id":    {ExternalID: "\xff"},
		"agent":         {Agent: long},
		"surface":       {Surface: long},
		"sender":        {Sender: long},
		"delivery mode": {DeliveryMode: long},
		"conversation":  {Conversation: long},
		"thread":        {Thread: long},
		"plugin":        {Plugins: []string{long}},
		"text":          {Text: strings.Repeat("x", journal.MaxText+1)},
	} {
		_, _, err := j.Admit(t.Context(), a)
		var invalid *journal.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sessions, err := j.Sessions(t.Context()); err != nil || len(sessions) != 0 {
		t.Errorf("left %v, %v", sessions, err)
	}
}

// TestTurnIDsSortByTime checks that ids sort by the time of admission.
func TestTurnIDsSortByTime(t *testing.T) {
	t.Parallel()
	j := open(t)
	last := ""
	for range 5 {
		turn, _, err := j.Admit(t.Context(), journal.Admission{Session: last})
		if err != nil {
			t.Fatal(err)
		}
		if turn.ID <= last {
			t.Errorf("%s is not after %s", turn.ID, last)
		}
		last = turn.ID
		<-time.After(2 * time.Millisecond)
	}
}
