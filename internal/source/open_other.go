//go:build !unix

package source

// nonblock: opening waits for nothing here.
const nonblock = 0
