package config

import (
	"github.com/zchost/zchost/host/cost"
)

// Cost is the [cost] table (CST-3, CST-5).
type Cost struct {
	Currency    string          `toml:"currency" doc:"The currency of all amounts, three letters." default:"USD" range:"3..3"`
	MaxPerTurn  *cost.Amount    `toml:"max_per_turn" doc:"The most that a turn may spend. At 80 % there is a warning; once it is spent, no further request is sent."`
	MaxPerDay   *cost.Amount    `toml:"max_per_day" doc:"The most that may be spent in a day, in the local time zone."`
	MaxPerMonth *cost.Amount    `toml:"max_per_month" doc:"The most that may be spent in a month, in the local time zone."`
	Rates       map[string]Rate `toml:"rates" names:"rate" doc:"What a million tokens cost, by \"provider/model\": the provider is a [providers.NAME], the model one that a profile asks. What has no rate, or no usage that the provider tells, is unpriced: it counts in no budget, and sums say so."`
}

// Rate is one [cost.rates."PROVIDER/MODEL"] table: amounts for a million
// tokens.
type Rate struct {
	Input      *cost.Amount `toml:"input" doc:"Tokens of the prompt." required:"true"`
	Output     *cost.Amount `toml:"output" doc:"Tokens of the answer." required:"true"`
	CacheRead  *cost.Amount `toml:"cache_read" doc:"Tokens of the prompt that came from the provider's cache; without it as input."`
	CacheWrite *cost.Amount `toml:"cache_write" doc:"Tokens of the prompt that were written to the provider's cache; without it as input."`
	Reasoning  *cost.Amount `toml:"reasoning" doc:"Tokens of the answer that were reasoning; without it as output."`
}

// DefaultCurrency is the currency of a config that names none.
const DefaultCurrency = "USD"

// Rates returns all rates, for host/cost.
func (c Config) Rates() cost.Rates {
	rates := make(cost.Rates, len(c.Cost.Rates))
	for name, r := range c.Cost.Rates {
		rates[name] = cost.Rate{
			Input: r.Input, Output: r.Output, CacheRead: r.CacheRead, CacheWrite: r.CacheWrite, Reasoning: r.Reasoning,
		}
	}
	return rates
}

// Budgets returns the budgets, for host/cost.
func (c Config) Budgets() cost.Budgets {
	return cost.Budgets{PerTurn: c.Cost.MaxPerTurn, PerDay: c.Cost.MaxPerDay, PerMonth: c.Cost.MaxPerMonth}
}

// Currency returns the currency of all amounts.
func (c Config) Currency() string {
	if c.Cost.Currency == "" {
		return DefaultCurrency
	}
	return c.Cost.Currency
}
