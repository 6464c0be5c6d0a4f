//go:build !unix

package journal

// nonblock: opening waits for nothing here.
const nonblock = 0

// syncDir does nothing: a folder cannot be synced on its own here.
func syncDir(string) error { return nil }
