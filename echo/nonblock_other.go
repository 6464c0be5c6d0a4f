//go:build !unix

package echo

// nonblock: opening waits for nothing here.
const nonblock = 0
