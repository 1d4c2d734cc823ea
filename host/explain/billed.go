package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/cost"
	"github.com/zchost/zchost/host/journal"
)

// Usage sums what is known of the tokens and of the price (CST-2, CST-3).
type Usage struct {
	// Attempts counts the requests, Unknown those of which nothing is known,
	// Partial those whose output or input is not known. The sums lack them.
	Attempts int `json:"attempts"`
	Unknown  int `json:"unknown"`
	Partial  int `json:"partial"`
	// Estimated counts those whose numbers are an estimate.
	Estimated int `json:"estimated"`
	// Tokens are the sums; a field that no attempt knows is absent.
	Tokens abi.Usage `json:"tokens"`
	// Unpriced counts those without a price: Prices lack them.
	Unpriced int `json:"unpriced"`
	// Prices are the sums, by currency.
	Prices []Price `json:"prices,omitempty"`
}

// Price is an amount of money, an exact decimal number.
type Price struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`

	nano cost.Amount
}

func priceOf(a *journal.Attempt) *Price {
	if a.Price == nil {
		return nil
	}
	n := cost.Amount(*a.Price)
	return &Price{Amount: n.String(), Currency: a.Currency, nano: n}
}

func (u *Usage) add(a *journal.Attempt) {
	u.Attempts++
	u.price(priceOf(a))
	t := a.Usage
	switch {
	case t == abi.Usage{}:
		u.Unknown++
		return
	case t.Input == nil || t.Output == nil:
		u.Partial++
	}
	if a.UsageSource == journal.UsageEstimated {
		u.Estimated++
	}
	sum(&u.Tokens.Input, t.Input)
	sum(&u.Tokens.Output, t.Output)
	sum(&u.Tokens.CacheRead, t.CacheRead)
	sum(&u.Tokens.CacheWrite, t.CacheWrite)
	sum(&u.Tokens.Reasoning, t.Reasoning)
}

func (u *Usage) price(p *Price) {
	if p == nil {
		u.Unpriced++
		return
	}
	i := slices.IndexFunc(u.Prices, func(q Price) bool { return q.Currency == p.Currency })
	if i < 0 {
		u.Prices = append(u.Prices, *p)
		return
	}
	u.Prices[i].nano += p.nano
	u.Prices[i].Amount = u.Prices[i].nano.String()
}

// String says what was billed, and of how many attempts that is not known.
func (u Usage) String() string {
	if u.Attempts == 0 {
		return "nothing: no model was asked"
	}
	text := count(u.Attempts, "attempt")
	if u.Unknown < u.Attempts {
		text += "; " + numbers(u.Tokens)
	}
	if u.Estimated > 0 {
		text += fmt.Sprintf("; estimated for %d", u.Estimated)
	}
	if u.Partial > 0 {
		text += fmt.Sprintf("; input or output of %s unknown", count(u.Partial, "attempt"))
	}
	if u.Unknown > 0 {
		text += fmt.Sprintf("; tokens of %s unknown, and not in the sum", count(u.Unknown, "attempt"))
	}
	return text + "; " + u.money()
}

func (u Usage) money() string {
	if len(u.Prices) == 0 {
		return "unpriced"
	}
	prices := make([]string, len(u.Prices))
	for i, p := range u.Prices {
		prices[i] = p.nano.In(p.Currency)
	}
	text := "price " + strings.Join(prices, " + ")
	if u.Unpriced > 0 {
		text += fmt.Sprintf("; %s unpriced, and not in it", count(u.Unpriced, "attempt"))
	}
	return text
}

func sum(to **int64, n *int64) {
	if n == nil {
		return
	}
	total := *n
	if *to != nil {
		total += **to
	}
	*to = &total
}
