package reliability_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/reliability"
)

// TestBudgetHint: to wait gives back the budget of a day, not that of a turn.
func TestBudgetHint(t *testing.T) {
	t.Parallel()
	for budget, waits := range map[string]bool{"max_per_turn": false, "max_per_day": true, "max_per_month": true} {
		text := (&reliability.BudgetError{Budget: budget, Spent: "1 USD", Limit: "1 USD"}).Error()
		if !strings.Contains(text, "raise it in [cost]") || strings.Contains(text, "wait") != waits {
			t.Errorf("%s: %s", budget, text)
		}
	}
}

// CST-5: a budget that is used up refuses before anything is sent, and each
// attempt asks it anew.
func TestBudget(t *testing.T) {
	t.Parallel()
	refusal := &reliability.BudgetError{Budget: "max_per_day", Spent: "1.00 USD", Limit: "1.00 USD"}
	for _, tc := range []struct {
		name    string
		allowed int // requests
		asked   int
		class   string
	}{
		{"at once", 0, 0, string(reliability.ClassBudget)},
		{"between two attempts", 1, 1, string(abi.FailureServer)},
		{"never", 9, 2, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, ua := candidate("a", failing(abi.FailureServer), good("Hi"))
				n := 0
				c := &reliability.Chain{Candidates: []*reliability.Candidate{a}, Budget: func(context.Context, string) (string, error) {
					if n++; n > tc.allowed {
						return "", refusal
					}
					return "80 % are spent", nil
				}}
				l := &ledger{}
				got, err := c.Run(t.Context(), l, "t_1", 1, &reliability.Prompt{Messages: []*reliability.Message{
					reliability.NewMessage(abi.Message{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: "hi"}}}, ""),
				}})
				if err != nil {
					t.Fatal(err)
				}
				if len(ua.asked) != tc.asked {
					t.Errorf("asked %d times, want %d", len(ua.asked), tc.asked)
				}
				if tc.class == "" {
					if got.State != reliability.Complete {
						t.Errorf("state %v", got.State)
					}
					return
				}
				var refused *reliability.BudgetError
				if got.State != reliability.Failed || got.Err.Class != tc.class || !errors.As(got.Err, &refused) {
					t.Errorf("state %v, %v", got.State, got.Err)
				}
			})
		})
	}
}
