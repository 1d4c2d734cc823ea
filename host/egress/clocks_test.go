package egress_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
)

var clocks = egress.Clocks{Header: 60 * time.Second, Idle: 90 * time.Second, Progress: 600 * time.Second, FinishSilence: 5 * time.Second} //nolint:gochecknoglobals // a constant

const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// pipe is a client whose only server is serve, over connections in memory: with
// synctest, waiting takes no time. serve is given the connection after it has
// read the request; the connection is closed when it returns.
func pipe(t *testing.T, serve func(net.Conn)) *egress.Client {
	t.Helper()
	var servers sync.WaitGroup
	t.Cleanup(servers.Wait)
	c := egress.New(egress.Options{Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		servers.Go(func() {
			defer far.Close()
			req, err := http.ReadRequest(bufio.NewReader(far))
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return
			}
			serve(far)
		})
		return near, nil
	}})
	t.Cleanup(c.Close)
	return c
}

func send(t *testing.T, c *egress.Client) (*egress.Response, error) {
	t.Helper()
	return c.Send(t.Context(), egress.Endpoint{BaseURL: "http://vendor.test", Clocks: clocks}, egress.Request{URL: "http://vendor.test/chat", Body: [][]byte{[]byte("{}")}})
}

func chunk(s string) string {
	return strings.ToLower(strings.TrimLeft(hex(len(s)), "0")) + "\r\n" + s + "\r\n"
}

func hex(n int) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[n>>8&15], digits[n>>4&15], digits[n&15]})
}

// untilClosed waits for the client to close the connection and says when.
func untilClosed(conn net.Conn, closed chan<- time.Time) {
	_, _ = conn.Read(make([]byte, 1))
	closed <- time.Now()
}

func wantClock(t *testing.T, err error, clock string, class abi.FailureClass, after time.Duration, start time.Time) {
	t.Helper()
	var e *egress.Error
	if !errors.As(err, &e) || e.Clock != clock || e.Class != class {
		t.Errorf("error %#v, want the %s clock of class %s", err, clock, class)
	}
	if took := time.Since(start); took != after {
		t.Errorf("after %s, want %s", took, after)
	}
}

// STR-3: connecting and the response head share one clock, which says which of
// the two it was.
func TestHeaderClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := egress.New(egress.Options{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		start := time.Now()
		_, err := send(t, c)
		wantClock(t, err, egress.ClockConnect, abi.FailureTimeout, clocks.Header, start)
		if e := (*egress.Error)(nil); !errors.As(err, &e) || e.Sent {
			t.Error("nothing can have been sent")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan time.Time, 1)
		c := pipe(t, func(conn net.Conn) { untilClosed(conn, closed) })
		start := time.Now()
		_, err := send(t, c)
		wantClock(t, err, egress.ClockHeader, abi.FailureTimeout, clocks.Header, start)
		if e := (*egress.Error)(nil); !errors.As(err, &e) || !e.Sent {
			t.Error("the request was sent")
		}
		if at := <-closed; !at.Equal(start.Add(clocks.Header)) {
			t.Errorf("closed after %s", at.Sub(start))
		}
	})
}

// STR-3: any byte resets the idle clock, a ping too.
func TestIdleClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan time.Time, 1)
		c := pipe(t, func(conn net.Conn) {
			write(conn, head)
			for range 3 {
				<-time.After(clocks.Idle - time.Second)
				write(conn, chunk(":\n"))
			}
			untilClosed(conn, closed)
		})
		start := time.Now()
		resp, err := send(t, c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = resp.Frames(abi.FramingSSE).Next()
		wantClock(t, err, egress.ClockIdle, abi.FailureTimeout, 3*(clocks.Idle-time.Second)+clocks.Idle, start)
		if at := <-closed; !at.Equal(start.Add(time.Since(start))) {
			t.Errorf("closed after %s", at.Sub(start))
		}
	})
}

// The idle clock bounds a whole body too, and what came before is returned.
func TestIdleClockOfBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := pipe(t, func(conn net.Conn) {
			write(conn, head+chunk("half"))
			untilClosed(conn, make(chan time.Time, 1))
		})
		start := time.Now()
		resp, err := send(t, c)
		if err != nil {
			t.Fatal(err)
		}
		b, err := resp.Body(1 << 20)
		wantClock(t, err, egress.ClockIdle, abi.FailureTimeout, clocks.Idle, start)
		if string(b) != "half" {
			t.Errorf("body %q", b)
		}
	})
}

// STR-3: pings do not count as progress, frames without an event neither.
func TestProgressClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := pipe(t, func(conn net.Conn) {
			write(conn, head)
			for i := 0; write(conn, chunk(":\n")) && write(conn, chunk("data: 1\n\n")); i++ {
				<-time.After(7 * time.Second)
			}
		})
		resp, err := send(t, c)
		if err != nil {
			t.Fatal(err)
		}
		frames := resp.Frames(abi.FramingSSE)
		start := time.Now()
		for time.Since(start) < 70*time.Second { // ten frames that count
			if _, err := frames.Next(); err != nil {
				t.Fatal(err)
			}
			frames.Progress()
		}
		start = time.Now()
		_, err = drain(frames)
		wantClock(t, err, egress.ClockProgress, abi.FailureTimeout, clocks.Progress, start)
	})
}

// STR-1: after the finish, 5 s of silence end the stream; any byte starts the
// 5 s anew.
func TestFinishSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := pipe(t, func(conn net.Conn) {
			write(conn, head+chunk("data: 1\n\n"))
			<-time.After(4 * time.Second)
			write(conn, chunk(":\n"))
			untilClosed(conn, make(chan time.Time, 1))
		})
		resp, err := send(t, c)
		if err != nil {
			t.Fatal(err)
		}
		frames := resp.Frames(abi.FramingSSE)
		if _, err := frames.Next(); err != nil {
			t.Fatal(err)
		}
		frames.Finished()
		start := time.Now()
		_, err = frames.Next()
		wantClock(t, err, egress.ClockFinish, abi.FailureTruncated, 9*time.Second, start)
	})
}

// A caller that is slow to take what has arrived is not the server's silence.
func TestSlowCallerIsNotSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := pipe(t, func(conn net.Conn) {
			write(conn, head)
			for range 3 { // each write waits to be read
				write(conn, chunk("data: 1\n\n"))
			}
			write(conn, "0\r\n\r\n")
		})
		resp, err := send(t, c)
		if err != nil {
			t.Fatal(err)
		}
		frames := resp.Frames(abi.FramingSSE)
		frames.Finished()
		for n := 0; n < 3; {
			<-time.After(time.Hour)
			list, err := frames.Next()
			if err != nil {
				t.Fatal(err)
			}
			n += len(list)
		}
		if _, err := frames.Next(); err != io.EOF { //nolint:errorlint // io.EOF itself
			t.Error(err)
		}
	})
}

// STR-9: the caller's context, at any step, ends the request at once, with its
// cause, and the server sees the connection close at that moment.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"before the head", "within the body"} {
		synctest.Test(t, func(t *testing.T) {
			closed := make(chan time.Time, 1)
			c := pipe(t, func(conn net.Conn) {
				if step == "within the body" {
					write(conn, head+chunk("data: 1\n\ndata: half"))
				}
				untilClosed(conn, closed)
			})
			why := errors.New("interrupted by user")
			ctx, cancel := context.WithCancelCause(t.Context())
			start := time.Now()
			time.AfterFunc(time.Second, func() { cancel(why) })
			resp, err := c.Send(ctx, egress.Endpoint{BaseURL: "http://vendor.test"}, egress.Request{URL: "http://vendor.test/chat"})
			if err == nil {
				_, err = drain(resp.Frames(abi.FramingSSE))
			}
			if !errors.Is(err, why) || outcome(err) != string(abi.FailureUnknown) || !strings.Contains(err.Error(), "canceled") {
				t.Errorf("%s: error %v", step, err)
			}
			if at := <-closed; !at.Equal(start.Add(time.Second)) || time.Since(start) != time.Second {
				t.Errorf("%s: closed after %s, returned after %s", step, at.Sub(start), time.Since(start))
			}
		})
	}
}

// The caller's own deadline is a timeout, but none of the three clocks.
func TestCallersDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := pipe(t, func(conn net.Conn) { untilClosed(conn, make(chan time.Time, 1)) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := c.Send(ctx, egress.Endpoint{BaseURL: "http://vendor.test"}, egress.Request{URL: "http://vendor.test/chat"})
		wantClock(t, err, "", abi.FailureTimeout, time.Second, start)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// STR-9: Close from another goroutine ends a read at once.
func TestCloseEndsNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan time.Time, 1)
		c := pipe(t, func(conn net.Conn) {
			write(conn, head)
			untilClosed(conn, closed)
		})
		resp, err := send(t, c)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		time.AfterFunc(time.Second, func() { _ = resp.Close() })
		_, err = resp.Frames(abi.FramingSSE).Next()
		if !errors.Is(err, egress.ErrClosed) || time.Since(start) != time.Second {
			t.Errorf("error %v after %s", err, time.Since(start))
		}
		if at := <-closed; !at.Equal(start.Add(time.Second)) {
			t.Errorf("closed after %s", at.Sub(start))
		}
	})
}

// A script runs through the same clocks, and no longer than it is wanted.
func TestPlayClocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := &abi.Script{
			Pieces: []abi.Piece{{Data: "data: 1\n\n"}, {DelayMS: 89_000, Data: "data: 2\n\n"}, {DelayMS: -5, Data: ""}},
			End:    abi.ScriptEndSilence,
		}
		resp, err := egress.Play(t.Context(), script, clocks)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		got, err := drain(resp.Frames(abi.FramingSSE))
		if len(got) != 2 {
			t.Errorf("frames %q", got)
		}
		wantClock(t, err, egress.ClockIdle, abi.FailureTimeout, 89*time.Second+clocks.Idle, start)

		script.Pieces[1].DelayMS = 1 << 62
		if resp, err = egress.Play(t.Context(), script, clocks); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { _ = resp.Close() })
		if _, err := drain(resp.Frames(abi.FramingSSE)); !errors.Is(err, egress.ErrClosed) {
			t.Errorf("error %v", err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := egress.Play(ctx, &abi.Script{}, clocks); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func write(conn net.Conn, s string) bool {
	_, err := io.WriteString(conn, s)
	return err == nil
}
