//go:build wasip1

// Command guest is the plugin that the tests of host/plugin run: it does what
// its input says. It is built by the tests with io = "stdio".
package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

func main() {}

var kept [][]byte

// run reads a command word and its argument from stdin and obeys.
//
//go:wasmexport chat_events
func run() int32 {
	in := readAll()
	word, rest, _ := bytes.Cut(in, []byte(" "))
	switch string(word) {
	case "echo":
		write(rest)
	case "count":
		count++
		write(strconv.AppendInt(nil, int64(count), 10))
	case "panic":
		panic(string(rest))
	case "exit":
		code, _ := strconv.Atoi(string(rest))
		os.Exit(code)
	case "loop":
		for {
			count++
		}
	case "grow":
		for {
			kept = append(kept, make([]byte, 1<<20))
			for i := 0; i < 1<<20; i += 4096 {
				kept[len(kept)-1][i] = 1
			}
		}
	case "big":
		n, _ := strconv.Atoi(string(rest))
		block := bytes.Repeat([]byte("x"), 1<<16)
		for n > 0 {
			write(block[:min(n, len(block))])
			n -= len(block)
		}
	case "fail":
		write([]byte(fmt.Sprintf(`{"error":%q}`, rest)))
		return 1
	case "garbage":
		for range 200 {
			kept = nil
			for range 64 {
				kept = append(kept, make([]byte, 1<<16))
			}
		}
		kept = nil
		write([]byte("ok"))
	case "clock":
		write([]byte(time.Now().UTC().Format(time.RFC3339Nano)))
	case "sleep":
		time.Sleep(time.Hour)
	case "random":
		var b [16]byte
		if _, err := randomGet(b[:]); err != nil {
			return 1
		}
		write([]byte(fmt.Sprintf("%x", b)))
	case "env":
		write([]byte(fmt.Sprintf("%q %q", os.Environ(), os.Args)))
	case "open":
		_, err := os.Open(string(rest))
		write([]byte(fmt.Sprint(err)))
	case "stderr":
		os.Stderr.Write(rest)
		write([]byte("ok"))
	case "ignore":
		write([]byte("ok"))
	}
	return 0
}

var count int

func randomGet(b []byte) (int, error) {
	f, err := os.Open("/dev/urandom")
	if err == nil {
		defer f.Close()
		return f.Read(b)
	}
	return len(b), getRandom(b)
}

func readAll() []byte {
	var out []byte
	buf := make([]byte, 1<<16)
	for {
		n, err := syscall.Read(0, buf)
		if n <= 0 || err != nil {
			return out
		}
		out = append(out, buf[:n]...)
	}
}

func write(b []byte) {
	for len(b) > 0 {
		n, err := syscall.Write(1, b)
		if err != nil || n <= 0 {
			return
		}
		b = b[n:]
	}
}
