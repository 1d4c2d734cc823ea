package guest

import (
	"syscall"

	"github.com/zchost/zchost/abi/jsonscan"
)

// Stdio serves the exports of a module, which runs one call at a time.
type Stdio struct{ in []byte }

// Serve runs one export from stdin to stdout. It returns 0, or 1 after it wrote
// {"error":"…"}. The input of call is valid until the next one.
func (s *Stdio) Serve(call func(in []byte) ([]byte, error)) int32 {
	in, err := s.read()
	if err != nil {
		return Refuse("read input: " + err.Error())
	}
	out, err := call(in)
	if err != nil {
		return Refuse(err.Error())
	}
	if err := write(out); err != nil {
		return Refuse("write output: " + err.Error())
	}
	return 0
}

// Refuse says why a call fails, and returns 1.
func Refuse(reason string) int32 {
	out := append(jsonscan.AppendString([]byte(`{"error":`), reason), '}')
	_ = write(out) // the return value says that there was an error
	return 1
}

// read reads stdin to its end.
func (s *Stdio) read() ([]byte, error) {
	in := s.in[:0]
	if in == nil || cap(in) > Keep {
		in = make([]byte, 0, 16<<10)
	}
	for {
		if len(in) == cap(in) {
			in = append(in, 0)[:len(in)]
		}
		n, err := syscall.Read(0, in[len(in):cap(in)])
		if err != nil {
			return nil, err
		}
		if n == 0 {
			s.in = in
			return in, nil
		}
		in = in[:len(in)+n]
	}
}

func write(out []byte) error {
	for len(out) > 0 {
		n, err := syscall.Write(1, out)
		if err != nil {
			return err
		}
		out = out[n:]
	}
	return nil
}
