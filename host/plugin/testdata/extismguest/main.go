//go:build wasip1

// Command extismguest is a plugin made with Extism's own kit for Go that does
// what its input says. The tests of host/plugin build and run it.
package main

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"github.com/extism/go-pdk"
)

func main() {}

//go:wasmexport before_agent_reply
func run() int32 {
	word, rest, _ := bytes.Cut(pdk.Input(), []byte(" "))
	number, _ := strconv.Atoi(string(rest))
	switch string(word) {
	case "echo":
		pdk.Output(rest)
	case "panic":
		panic(string(rest))
	case "exit":
		os.Exit(number)
	case "loop":
		for n := 0; ; n++ {
			if n == -1 {
				return 1
			}
		}
	case "hostloop":
		for {
			pdk.Log(pdk.LogTrace, "again")
		}
	case "grow":
		for all := [][]byte{}; ; {
			all = append(all, bytes.Repeat([]byte{1}, 1<<20))
		}
	case "big":
		pdk.Output(bytes.Repeat([]byte("x"), number))
	case "error":
		pdk.SetErrorString(string(rest))
		return 1
	case "code":
		return int32(number)
	case "var":
		pdk.Output([]byte("was:" + string(pdk.GetVar("v"))))
		pdk.SetVar("v", rest)
	case "config":
		v, ok := pdk.GetConfig(string(rest))
		pdk.OutputString(v + strconv.FormatBool(ok))
	case "http":
		pdk.OutputString(strconv.Itoa(int(pdk.NewHTTPRequest(pdk.MethodGet, string(rest)).Send().Status())))
	case "clock":
		pdk.OutputString(time.Now().UTC().Format(time.RFC3339))
	case "print":
		os.Stdout.Write(rest)
		os.Stderr.Write(rest)
		pdk.OutputString("ok")
	}
	return 0
}
