package host

import (
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"

	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/secret"
)

// maxLog is the size at which the log file is set aside at a start, in bytes;
// one older file is kept.
const maxLog = 10 << 20

// openLog opens the log. Known secrets are taken out of every line.
func openLog(home Home, c config.Log, redactor *secret.Redactor) (hclog.Logger, io.Closer, error) {
	path := home.Log()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fault.Wrap(err, fault.Home, "make log directory", "the home must be writable; name another with --home or ZCHOST_HOME")
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, nil, fault.Wrap(err, fault.Home, "set log aside", "")
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // the path is the home's own
	if err != nil {
		return nil, nil, fault.Wrap(err, fault.Home, "open log", "the home must be writable; name another with --home or ZCHOST_HOME")
	}
	return hclog.New(&hclog.LoggerOptions{
		Name:       "zchost",
		Level:      hclog.LevelFromString(c.Level),
		Output:     redactor.Writer(f),
		JSONFormat: c.Format == "json",
	}), f, nil
}
