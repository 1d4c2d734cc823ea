package cost

import (
	"math/big"

	"github.com/zchost/zchost/abi"
)

// Rate is what a million tokens of a model cost. A nil price is not known; a
// price of zero is one: a model that costs nothing (CST-3).
type Rate struct {
	// Input is for tokens of the prompt that no cache was used for, Output for
	// those of the answer.
	Input, Output *Amount
	// CacheRead and CacheWrite are for tokens of the prompt that came from a
	// cache or were written to one. Default: Input.
	CacheRead, CacheWrite *Amount
	// Reasoning is for tokens of the answer that were reasoning. Default:
	// Output.
	Reasoning *Amount
}

// Rates are the rates by "provider/model". The provider is the name that the
// config gives it, the model the one that is asked for.
type Rates map[string]Rate

// Price prices a request to a model; ok is false if there is no rate for it, or
// Price of the rate says so.
func (r Rates) Price(provider, model string, u abi.Usage) (price Amount, ok bool) {
	rate, ok := r[provider+"/"+model]
	if !ok {
		return 0, false
	}
	return rate.Price(u)
}

// million is the number of tokens that a rate is for.
const million = 1_000_000

// Price prices a usage, rounded to the nearest billionth, half up. ok is false,
// and the request is unpriced, if the tokens of the prompt or of the answer are
// not known (unknown is never zero, CST-2), if the numbers contradict each
// other, or if a rate is missing for tokens that there are. A provider that
// does not tell cached or reasoning tokens apart is taken to charge all alike.
func (r Rate) Price(u abi.Usage) (price Amount, ok bool) {
	if u.Input == nil || u.Output == nil {
		return 0, false
	}
	read, written, thought := known(u.CacheRead), known(u.CacheWrite), known(u.Reasoning)
	sum := new(big.Int)
	for _, part := range []struct {
		tokens *big.Int
		rate   *Amount
	}{
		{difference(*u.Input, read, written), r.Input},
		{big.NewInt(read), or(r.CacheRead, r.Input)},
		{big.NewInt(written), or(r.CacheWrite, r.Input)},
		{difference(*u.Output, thought), r.Output},
		{big.NewInt(thought), or(r.Reasoning, r.Output)},
	} {
		switch {
		case part.tokens.Sign() < 0:
			return 0, false
		case part.tokens.Sign() == 0:
			continue
		case part.rate == nil || *part.rate < 0:
			return 0, false
		}
		sum.Add(sum, part.tokens.Mul(part.tokens, big.NewInt(int64(*part.rate))))
	}
	sum.Add(sum, big.NewInt(million/2)).Div(sum, big.NewInt(million))
	if !sum.IsInt64() {
		return 0, false // more money than there is: the numbers are wrong
	}
	return Amount(sum.Int64()), true
}

// difference is exact, whatever the numbers.
func difference(n int64, less ...int64) *big.Int {
	d := big.NewInt(n)
	for _, l := range less {
		d.Sub(d, big.NewInt(l))
	}
	return d
}

func known(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func or(rate, otherwise *Amount) *Amount {
	if rate == nil {
		return otherwise
	}
	return rate
}
