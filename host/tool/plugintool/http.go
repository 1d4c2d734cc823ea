package plugintool

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
)

// maxBody is the longest body of a response that a plugin gets, in bytes.
const maxBody = 8 << 20

// sender sends the requests of one plugin.
type sender struct {
	client *egress.Client
	reach  egress.Reach
	plugin string
	log    hclog.Logger // may be nil
}

// send is a plugin.HTTP.
func (s sender) send(ctx context.Context, r abi.HTTPRequest) abi.HTTPResponse {
	request := egress.Request{Method: r.Method, URL: r.URL, Headers: r.Headers}
	if r.Body != "" {
		request.Body = [][]byte{[]byte(r.Body)}
	}
	resp, err := s.client.Fetch(ctx, s.reach, request)
	if err != nil {
		return s.failure(err)
	}
	body, err := resp.Body(maxBody)
	if err != nil {
		return s.failure(err)
	}
	return abi.HTTPResponse{
		Status: int64(resp.Status), Headers: resp.Headers, URL: resp.URL,
		Body: strings.ToValidUTF8(string(body), "\uFFFD"),
	}
}

// failure tells the plugin why there is no response. A request that is not
// allowed is the plugin's mistake, and is logged.
func (s sender) failure(err error) abi.HTTPResponse {
	f := abi.Failure{Class: abi.FailureUnknown, Message: err.Error()}
	var e *egress.Error
	if errors.As(err, &e) {
		f.Class = e.Class
	}
	if f.Class == abi.FailurePlugin && s.log != nil {
		s.log.Warn("plugin's request refused", "plugin", s.plugin, "reason", f.Message)
	}
	return abi.HTTPResponse{Failure: &f}
}
