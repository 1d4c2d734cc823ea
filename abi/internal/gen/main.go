// Command gen writes what follows from the data types of package abi: their
// encoding without reflection (zz_codec.go), and the tables of docs/abi.md. It is
// run by go generate in abi; a test fails when either is not up to date.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := generate("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate writes the files of the package in dir.
func generate(dir string) error {
	files, err := outputs(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(f.path, f.data, 0o600); err != nil {
			return fmt.Errorf("write generated file: %w", err)
		}
	}
	return nil
}

// file is one generated file.
type file struct {
	path string
	data []byte
}

// outputs returns what the generated files have to be.
func outputs(dir string) ([]file, error) {
	m, err := parse(dir)
	if err != nil {
		return nil, err
	}
	code, err := codec(m)
	if err != nil {
		return nil, err
	}
	page := filepath.Join(dir, "..", "docs", "abi.md")
	text, err := os.ReadFile(page) //nolint:gosec // the page of this repository
	if err != nil {
		return nil, fmt.Errorf("read page: %w", err)
	}
	text, err = fillPage(m, text)
	if err != nil {
		return nil, err
	}
	return []file{{filepath.Join(dir, codecFile), code}, {page, text}}, nil
}
