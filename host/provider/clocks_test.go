package provider_test

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
	"github.com/zchost/zchost/host/provider"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/secret"
)

const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

// piped is an endpoint whose server is serve, over connections in memory, so
// that waiting takes no time. serve is given the connection after the request
// was read; the connection is closed when it returns.
func piped(t *testing.T, serve func(net.Conn)) *provider.Endpoint {
	t.Helper()
	var servers sync.WaitGroup
	t.Cleanup(servers.Wait)
	client := egress.New(egress.Options{Redactor: secret.NewRedactor(), Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		servers.Go(func() {
			defer far.Close()
			req, err := http.ReadRequest(bufio.NewReader(far))
			if err == nil {
				_, err = io.Copy(io.Discard, req.Body)
			}
			if err == nil {
				serve(far)
			}
		})
		return near, nil
	}})
	t.Cleanup(client.Close)
	return endpointAt(&plugin{}, "http://vendor.test", client)
}

func write(c net.Conn, s string) bool {
	_, err := io.WriteString(c, s)
	return err == nil
}

// untilClosed waits until the other side closes the connection.
func untilClosed(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// After a finish reason, 5 s of silence on an open connection are the end of
// the answer (STR-1).
func TestSilenceAfterFinish(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := piped(t, func(c net.Conn) {
			write(c, head+"data: a\n\ndata: [FIN]\n\n")
			untilClosed(c)
		})
		begun := time.Now()
		got, err := read(t, e, reliability.Request{Prompt: prompt("x"), Stream: true})
		if took := time.Since(begun); got != "a." || !errors.Is(err, reliability.ErrSilence) || took != 5*time.Second {
			t.Errorf("got %q, %v after %s", got, err, took)
		}
	})
}

// A frame without an event is no progress (STR-3).
func TestPingsAreNoProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := piped(t, func(c net.Conn) {
			write(c, head)
			for write(c, "data: ping\n\n") {
				<-time.After(7 * time.Second)
			}
		})
		_, err := read(t, e, reliability.Request{Prompt: prompt("x"), Stream: true})
		var f *abi.Failure
		if !errors.As(err, &f) || f.Class != abi.FailureTimeout || !strings.Contains(f.Message, "progress") {
			t.Errorf("got %v, want the progress clock", err)
		}
	})
}

// The head of an answer in one piece comes when the model is done, so its clock
// is the idle timeout (STR-3).
func TestHeadOfWholeAnswer(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e := piped(t, func(c net.Conn) {
				select {
				case <-time.After(2 * time.Minute):
				case <-t.Context().Done():
				}
				write(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
			})
			e.Clocks.Idle = 5 * time.Minute
			got, err := read(t, e, reliability.Request{Prompt: prompt("x"), Stream: stream})
			var f *abi.Failure
			switch {
			case !stream && (err != nil || got != "whole"):
				t.Errorf("got %q, %v", got, err)
			case stream && (!errors.As(err, &f) || f.Class != abi.FailureTimeout || !strings.Contains(f.Message, "header")):
				t.Errorf("got %q, %v; want the header clock", got, err)
			}
		})
	}
}

// The head of a refusal says enough: that the body breaks off, or does not
// come, changes neither the class nor the wait that it asks for (REL-6, REL-7).
func TestRefusalBreaksOff(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]abi.FailureClass{
		"401 Unauthorized": abi.FailureAuth, "429 Too Many Requests": abi.FailureRateLimited, "400 Bad Request": abi.FailureInvalidRequest,
	} {
		for name, end := range map[string]func(net.Conn){"cut": func(net.Conn) {}, "silent": untilClosed} {
			t.Run(status+" "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					e := piped(t, func(c net.Conn) {
						write(c, "HTTP/1.1 "+status+"\r\nRetry-After: 7\r\nContent-Length: 500\r\n\r\n{\"error\":{\"code\":\"inv")
						end(c)
					})
					e.Plugin = &plugin{exports: map[string]func([]byte) ([]byte, error){
						abi.ExportChatError: func([]byte) ([]byte, error) { return nil, errors.New("half a body") },
					}}
					_, err := read(t, e, reliability.Request{Prompt: prompt("x"), Stream: true})
					var f *abi.Failure
					if !errors.As(err, &f) || f.Class != want || f.RetryAfterMS != 7000 || f.Status == 0 {
						t.Errorf("got %+v, want %s", err, want)
					}
				})
			})
		}
	}
}

// A response that Open could not use is closed, however much of it is left
// (STR-9).
func TestFailedOpenCloses(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{
		"refused":              "HTTP/1.1 500 No\r\n\r\n",
		"too large":            "HTTP/1.1 200 OK\r\n\r\n",
		"of a strange content": "HTTP/1.1 200 OK\r\nContent-Encoding: zip\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := piped(t, func(c net.Conn) {
					write(c, first)
					for write(c, strings.Repeat("x", 1<<20)) { // until it is closed
					}
				})
				begun := time.Now()
				s, err := e.Open(t.Context(), reliability.Request{Prompt: prompt("x")})
				if err == nil {
					t.Fatalf("got %v", s)
				}
				synctest.Wait() // the server has given up, or the test hangs at its end
				if took := time.Since(begun); took > 0 {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}
