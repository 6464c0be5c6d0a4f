//go:build !unix

package journal

import (
	"os"
	"syscall"
)

// errNoFolder is the error for a path through something that is not a folder.
const errNoFolder = syscall.ENOTDIR

// nonblock: opening waits for nothing here.
const nonblock = 0

// syncDir does nothing: a folder cannot be synced on its own here.
func syncDir(string) error { return nil }

// isOwn: what belongs to whom is not checked here.
func isOwn(os.FileInfo) bool { return true }

// requireWritable finds nothing out here: making the first file does.
func requireWritable(string) error { return nil }
