//go:build !unix

package tool

// openNonblock is nothing where opening a file does not block.
const openNonblock = 0
