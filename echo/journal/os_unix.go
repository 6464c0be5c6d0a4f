//go:build unix

package journal

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// errNoFolder is the error for a path through something that is not a folder.
const errNoFolder = syscall.ENOTDIR

// nonblock keeps the opening of a named pipe from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// isOwn reports whether a file belongs to this user, and nobody else may write to it. The
// administrator may use the files of others.
func isOwn(info os.FileInfo) bool {
	uid := os.Geteuid()
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (uid == 0 || int64(s.Uid) == int64(uid)) && info.Mode().Perm()&0o022 == 0
}

// requireWritable demands that files can be made in a folder.
func requireWritable(folder string) error {
	if err := unix.Access(folder, unix.W_OK|unix.X_OK); err != nil {
		return &os.PathError{Op: "write to", Path: folder, Err: err}
	}
	return nil
}
