//go:build !unix

package core

// openNonblock is for systems with pipes among the files.
const openNonblock = 0
