//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

var (
	// mock is the fake server that all tests share. Each test keeps to model
	// names of its own.
	mock server
	// cache holds the compiled plugins, so that not every home compiles them.
	cache string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	stop, err := startMock()
	if err != nil {
		fmt.Fprintln(os.Stderr, "start aimock:", err)
		return 1
	}
	defer stop()
	if cache, err = warmCache(); err != nil {
		fmt.Fprintln(os.Stderr, "compile plugins:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(filepath.Dir(cache)) }()
	return m.Run()
}

// warmCache starts the program once with all plugins that the tests use.
func warmCache() (string, error) {
	home, err := os.MkdirTemp("", "zchost-e2e-")
	if err != nil {
		return "", err
	}
	var names []string
	config := "[agents.main]\nmodel = \"main\"\n[models.main]\nprovider = \"openai-chat\"\nmodel = \"x\"\nfallback = "
	tables := "\n"
	for _, p := range peers() {
		names = append(names, p.plugin)
		tables += fmt.Sprintf("[models.%s]\nprovider = %q\nmodel = \"x\"\n", p.plugin, p.plugin)
		tables += fmt.Sprintf("[providers.%s]\nplugin = %q\nbase_url = \"%s/nowhere\"\nprovider_retries = 0\n", p.plugin, p.plugin, mock.url)
	}
	config += list(names) + tables
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		return "", err
	}
	cmd := exec.Command("../bin/zchost", "--home", home, "send", "-m", "hi")
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		return "", fmt.Errorf("%w: exit %d: %s", err, code, out)
	}
	return filepath.Join(home, "cache"), nil
}

// startMock starts aimock and waits until it listens.
func startMock() (stop func(), err error) {
	bin, err := filepath.Abs("node_modules/.bin/llmock")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("node", bin, "--port", "0", "--fixtures", "testdata/none.json",
		"--chunk-size", "8", "--journal-max", "0", "--fixture-counts-max", "0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	found := make(chan string, 1)
	go func() {
		defer close(found)
		address := regexp.MustCompile(`http://[0-9.:]+`)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if a := address.FindString(lines.Text()); a != "" {
				found <- a
				break
			}
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	select {
	case mock.url = <-found:
	case <-time.After(30 * time.Second):
	}
	if mock.url == "" {
		stop()
		return nil, fmt.Errorf("%s does not listen: run make e2e, which installs it", bin)
	}
	return stop, nil
}
