package egress

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
)

// maxRetryAfter is the longest wait that RetryAfter returns. It is far over
// what anyone waits, and a longer one would overflow somewhere.
const maxRetryAfter = 366 * 24 * time.Hour

// RetryAfter returns how long the server asks to wait, by its headers (names
// in lower case): retry-after-ms, which some vendors add, else retry-after in
// seconds or as an HTTP date. A date is measured against the server's own
// clock if there is a date header, else against now. The wait is never
// negative; ok is false if there is none or it makes no sense.
func RetryAfter(headers []abi.Header, now time.Time) (wait time.Duration, ok bool) {
	if ms := headerValue(headers, "retry-after-ms"); ms != "" {
		if wait, ok = number(ms, time.Millisecond); ok {
			return wait, true
		}
	}
	value := headerValue(headers, "retry-after")
	if wait, ok = number(value, time.Second); ok {
		return wait, true
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(headerValue(headers, "date")); err == nil {
		now = date
	}
	return min(max(until.Sub(now), 0), maxRetryAfter), true
}

func headerValue(headers []abi.Header, name string) string {
	for _, h := range headers {
		if h.Name == name {
			return strings.TrimSpace(h.Value)
		}
	}
	return ""
}

// number reads a number of units, fractions allowed.
func number(s string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || n < 0 {
		return 0, false
	}
	return time.Duration(min(n*float64(unit), float64(maxRetryAfter))), true
}
