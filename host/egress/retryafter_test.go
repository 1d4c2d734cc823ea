package egress_test

import (
	"testing"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
)

// REL-6, C052: Retry-After in seconds or as a date.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		headers map[string]string
		want    time.Duration
		ok      bool
	}{
		{map[string]string{}, 0, false},
		{map[string]string{"retry-after": "0"}, 0, true},
		{map[string]string{"retry-after": " 30 "}, 30 * time.Second, true},
		{map[string]string{"retry-after": "1.5"}, 1500 * time.Millisecond, true},
		{map[string]string{"retry-after": "86400"}, 24 * time.Hour, true},
		{map[string]string{"retry-after": "99999999999999999999"}, 366 * 24 * time.Hour, true},
		{map[string]string{"retry-after": "1e400"}, 0, false},
		{map[string]string{"retry-after": "-1"}, 0, false},
		{map[string]string{"retry-after": "NaN"}, 0, false},
		{map[string]string{"retry-after": "soon"}, 0, false},
		{map[string]string{"retry-after": "Fri, 01 May 2026 12:00:20 GMT"}, 20 * time.Second, true},
		{map[string]string{"retry-after": "Friday, 01-May-26 12:00:20 GMT"}, 20 * time.Second, true},
		{map[string]string{"retry-after": "Fri, 01 May 2026 11:00:00 GMT"}, 0, true},
		{map[string]string{"retry-after": "Fri, 01 May 9999 11:00:00 GMT"}, 366 * 24 * time.Hour, true},
		// Our clock is wrong by an hour; the server's own is not.
		{map[string]string{"retry-after": "Fri, 01 May 2026 13:00:20 GMT", "date": "Fri, 01 May 2026 13:00:00 GMT"}, 20 * time.Second, true},
		{map[string]string{"retry-after-ms": "250", "retry-after": "1"}, 250 * time.Millisecond, true},
		{map[string]string{"retry-after-ms": "x", "retry-after": "1"}, time.Second, true},
	} {
		var headers []abi.Header
		for name, value := range c.headers {
			headers = append(headers, abi.Header{Name: name, Value: value})
		}
		if got, ok := egress.RetryAfter(headers, now); got != c.want || ok != c.ok {
			t.Errorf("%v: %s, %t, want %s, %t", c.headers, got, ok, c.want, c.ok)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("30", "")
	f.Add("Fri, 01 May 2026 12:00:20 GMT", "Fri, 01 May 2026 12:00:00 GMT")
	f.Fuzz(func(t *testing.T, value, date string) {
		wait, ok := egress.RetryAfter([]abi.Header{{Name: "retry-after", Value: value}, {Name: "date", Value: date}}, time.Unix(0, 0))
		if wait < 0 || wait > 366*24*time.Hour || !ok && wait != 0 {
			t.Fatalf("%s, %t", wait, ok)
		}
	})
}
