//go:build !unix

package journal

// syncDir does nothing: a folder cannot be synced on its own here, and the file system orders names itself.
func syncDir(string) error { return nil }
