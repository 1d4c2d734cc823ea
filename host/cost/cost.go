// Package cost says what a request to a model costs, and whether a budget
// allows another one. It only computes: rates and budgets come from the config,
// sums from the journal, the time from the caller.
//
// All money is a whole number of billionths, so that sums are exact: a rate of
// 0.30 for a million tokens is 300 billionths for each token.
package cost

import (
	"fmt"
	"strconv"
	"strings"
)

// Amount is an amount of money in billionths of its currency.
type Amount int64

const (
	// One is one unit of the currency, such as one dollar.
	One Amount = 1_000_000_000
	// digits are the places after the point that an Amount has.
	digits = 9
	// maxWhole is the most that Parse takes, in units of the currency: a sum
	// of several still fits into an Amount.
	maxWhole = 1_000_000_000
)

// AmountError says that a text is no amount of money.
type AmountError struct {
	// Text is the text, Reason what is wrong with it.
	Text, Reason string
}

// Error tells text and reason.
func (e *AmountError) Error() string { return fmt.Sprintf("%q is no amount: %s", e.Text, e.Reason) }

// Parse reads a decimal number such as "3", "0.075" or ".5": no sign, no
// exponent, at most nine places after the point and at most 1,000,000,000. The
// error is an *AmountError.
func Parse(text string) (Amount, error) {
	whole, part, point := strings.Cut(text, ".")
	switch {
	case whole == "" && part == "", point && part == "":
		return 0, &AmountError{text, "a decimal number such as 2.50 is wanted"}
	case !allDigits(whole) || !allDigits(part):
		return 0, &AmountError{text, "only digits and one point are possible"}
	case len(part) > digits:
		return 0, &AmountError{text, "at most 9 places after the point are possible"}
	}
	units, err := strconv.ParseInt("0"+whole, 10, 64)
	if err != nil || units > maxWhole {
		return 0, &AmountError{text, "at most 1000000000 is possible"}
	}
	billionths, err := strconv.ParseInt(part+strings.Repeat("0", digits-len(part)), 10, 64)
	if err != nil {
		return 0, &AmountError{text, "only digits and one point are possible"}
	}
	return Amount(units)*One + Amount(billionths), nil
}

func allDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// String gives the exact decimal number with at least two places: "2.50",
// "0.0000003".
func (a Amount) String() string {
	sign := ""
	n := uint64(a) //nolint:gosec // a negative one is turned round below
	if a < 0 {
		sign, n = "-", -n
	}
	part := fmt.Sprintf("%09d", n%uint64(One))
	for len(part) > 2 && part[len(part)-1] == '0' {
		part = part[:len(part)-1]
	}
	return sign + strconv.FormatUint(n/uint64(One), 10) + "." + part
}

// In gives the amount with its currency, for a person: "2.50 USD".
func (a Amount) In(currency string) string {
	return strings.TrimSpace(a.String() + " " + currency)
}
