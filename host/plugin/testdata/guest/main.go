//go:build wasip1

// Command guest is a plugin on stdin and stdout that does what its input says.
// The tests of host/plugin build and run it.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

func main() {}

// count and kept live as long as the instance.
var (
	count int
	kept  [][]byte
)

//go:wasmexport before_agent_reply
func run() int32 {
	word, rest, _ := bytes.Cut(readAll(), []byte(" "))
	number, _ := strconv.Atoi(string(rest))
	switch string(word) {
	case "echo":
		write(rest)
	case "count":
		count++
		write(strconv.AppendInt(nil, int64(count), 10))
	case "panic":
		panic(string(rest))
	case "nil":
		var p *int
		*p = 1
	case "exit":
		os.Exit(number)
	case "loop":
		for {
			count++
		}
	case "recurse":
		write(strconv.AppendInt(nil, int64(recurse(0)), 10))
	case "grow":
		for {
			kept = append(kept, bytes.Repeat([]byte{1}, 1<<20))
		}
	case "big":
		for block := bytes.Repeat([]byte("x"), 1<<16); number > 0; number -= len(block) {
			write(block[:min(number, len(block))])
		}
	case "fail":
		fmt.Printf(`{"error":%q}`, rest)
		return 1
	case "code":
		return int32(number)
	case "garbage":
		for range number {
			kept = append(kept[:0:0], make([]byte, 1<<16), make([]byte, 1<<16))
		}
		write([]byte("ok"))
	case "clock":
		write([]byte(time.Now().UTC().Format(time.RFC3339)))
	case "sleep":
		time.Sleep(time.Duration(number) * time.Millisecond)
		write([]byte("ok"))
	case "random":
		var b [16]byte
		randomGet(unsafe.Pointer(&b), uint32(len(b)))
		fmt.Printf("%x", b)
	case "world":
		_, err := os.ReadFile("/etc/passwd")
		_, err2 := os.ReadDir(".")
		fmt.Printf("%q %q %v %v", os.Environ(), os.Args, err, err2)
	case "stderr":
		os.Stderr.Write(bytes.Repeat([]byte("noise\n"), number))
		write([]byte("ok"))
	case "silent":
	}
	return 0
}

//go:wasmimport wasi_snapshot_preview1 random_get
func randomGet(buf unsafe.Pointer, n uint32) uint32

func recurse(n int) int {
	var pad [1 << 10]byte
	pad[n%len(pad)] = 1
	return recurse(n+1) + int(pad[0])
}

func readAll() []byte {
	var all []byte
	for buf := make([]byte, 1<<16); ; {
		n, err := syscall.Read(0, buf)
		if n <= 0 || err != nil {
			return all
		}
		all = append(all, buf[:n]...)
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
