//go:build unix

package plugin

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs reports whether this process's user owns the file.
func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}
