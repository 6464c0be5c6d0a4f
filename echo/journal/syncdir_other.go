//go:build !unix

package journal

// syncDir does nothing: a folder cannot be synced on its own here.
func syncDir(string) error { return nil }
