//go:build !unix

package journal

// nonblock: opening waits for nothing here.
const nonblock = 0
