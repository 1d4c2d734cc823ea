package main

import (
	"os"
	"strings"
	"testing"
)

// A file can be made on a full disk, but not filled: doctor finds that.
func TestDoctorFindsFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	err = fillProbe(full)
	if err := full.Close(); err != nil {
		t.Fatal(err)
	}
	f := diskFinding(err)
	if f.Verdict != verdictFail || !strings.Contains(f.Detail, "the disk is full") || !strings.Contains(f.Hint, "free some space") {
		t.Errorf("the finding is %+v", f)
	}
}

// The probe fits where there is room, and nothing of it stays.
func TestDoctorLeavesNoProbe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if f := checkHome(dir); f.Verdict != verdictOK {
		t.Errorf("the finding is %+v", f)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
