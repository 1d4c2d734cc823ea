package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/failure"
)

// Error says why a response is no answer.
func (chat) Error(r abi.HTTPResponse) abi.Failure {
	d := dialect()
	return d.Response(r, where(r.URL))
}

// where names the address, and what is most often wrong with it.
func where(url string) string {
	if url == "" {
		return "check base_url"
	}
	root := apiRoot(url)
	if !failure.Versioned(root) {
		return "from " + url + ": is base_url without its /v1? try " + root + "/v1"
	}
	return "from " + url + ": check base_url"
}
