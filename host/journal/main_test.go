package journal_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/zchost/zchost/host/journal"
)

// helperVar names what this test binary does when a test starts it as another
// process; helperPath is the journal that it does it with.
const (
	helperVar  = "ZCHOST_TEST_HELPER"
	helperPath = "ZCHOST_TEST_PATH"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(helperVar); name != "" {
		os.Exit(help(name, os.Getenv(helperPath)))
	}
	goleak.VerifyTestMain(m)
}

// help is the other process. It prints "ready" or what went wrong, and ends
// when its input ends.
func help(name, path string) int {
	helpers := map[string]func(string) error{
		"lock":   journal.HoldWriteLock,
		"host":   holdHome,
		"limit":  outgrowLimit,
		"unable": openUnable,
	}
	if err := helpers[name](path); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// process is a helper that runs.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts this test binary as a helper.
func start(t *testing.T, name, path string, change ...func(*exec.Cmd)) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), helperVar+"="+name, helperPath+"="+path)
	cmd.Stderr = os.Stderr
	for _, c := range change {
		c(cmd)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() { p.end(t) })
	return p
}

// line reads what the helper says next.
func (p *process) line(t *testing.T) string {
	t.Helper()
	s, err := p.out.ReadString('\n')
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return s
}

// end lets the helper end and waits for it.
func (p *process) end(t *testing.T) {
	t.Helper()
	if p.cmd.ProcessState != nil {
		return
	}
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("helper: %v", err)
	}
}

// ready tells the test that the helper has got so far, and waits until the test
// ends it.
func ready() error {
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// newPath is the place of a journal in a directory of the test.
func newPath(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "journal.db")
}
