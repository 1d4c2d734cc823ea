package reliability

import (
	"context"
	"errors"
	"fmt"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// ClassBudget is the class of a turn that a budget refused (CST-5). It is the
// host's own: no provider gives it.
const ClassBudget abi.FailureClass = "budget"

// WarnBudget is the warning that a budget is nearly used up.
const WarnBudget = "budget"

// perTurn is the budget that a new turn has anew.
const perTurn = "max_per_turn"

// BudgetError says that a budget is used up.
type BudgetError struct {
	// Budget is the config's name for it: max_per_turn, max_per_day or
	// max_per_month.
	Budget string
	// Spent and Limit are amounts of money for a person, with the currency.
	Spent, Limit string
}

// Error tells which budget it is, and what to do.
func (e *BudgetError) Error() string {
	hint := "raise it in [cost], or wait"
	if e.Budget == perTurn {
		hint = "raise it in [cost]" // to wait does not help: the turn has ended
	}
	return fmt.Sprintf("the budget %s = %s is used up (%s spent): nothing was sent; %s", e.Budget, e.Limit, e.Spent, hint)
}

// afford asks the budget before a request. A refusal is noted, for `why` and
// for the turn's error; the error is that of the journal.
func (r *run) afford(ctx context.Context, c *Candidate) error {
	if r.chain.Budget == nil {
		return nil
	}
	warning, err := r.chain.Budget(r.record, r.turn)
	var refused *BudgetError
	switch {
	case cancelled(ctx), err == nil && (warning == "" || r.warned):
		return nil
	case err == nil:
		r.warned = true
		return r.rec.Append(r.record, 0, event(journal.EventWarning, Warning{Code: WarnBudget, Text: warning}))
	case errors.As(err, &refused):
		r.refused = err
		return r.rec.Append(r.record, 0, event(journal.EventDecision, Decision{
			Rule: "CST-5", Text: c.Name() + " is not asked: " + refused.Error(),
		}))
	}
	return fmt.Errorf("check budget: %w", err)
}
