package core

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// hideEnvironment makes that the commands of the shell do not find keys in what
// the system shows of the host itself, /proc/PID/environ above all: the variables
// that the process began with are wiped there (Go works with a copy of them), and
// its files in /proc are closed to its own user (prctl(2), PR_SET_DUMPABLE). Root
// can still look into the memory of any process. What cannot be done is left: it
// is a second line of defence.
func hideEnvironment() {
	_ = wipeEnvironment()
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// The places of env_start and env_end in /proc/PID/stat after the name of the
// program: fields 50 and 51 of proc_pid_stat(5), where the state is field 3.
const (
	envStart = 50 - 3
	envEnd   = 51 - 3
)

// maxEnvironment is the most that is wiped, in bytes.
const maxEnvironment = 8 << 20

func wipeEnvironment() error {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return fmt.Errorf("find the environment: %w", err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= envEnd {
		return fmt.Errorf("find the environment: %d fields", len(fields))
	}
	start, err := strconv.ParseInt(fields[envStart], 10, 64)
	if err != nil {
		return fmt.Errorf("find the environment: %w", err)
	}
	end, err := strconv.ParseInt(fields[envEnd], 10, 64)
	if err != nil || start <= 0 || end <= start || end-start > maxEnvironment {
		return fmt.Errorf("find the environment: it reaches from %d to %d: %w", start, end, err)
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("wipe the environment: %w", err)
	}
	defer func() { _ = memory.Close() }() // what was written is in the memory
	if _, err := memory.WriteAt(make([]byte, end-start), start); err != nil {
		return fmt.Errorf("wipe the environment: %w", err)
	}
	return nil
}
