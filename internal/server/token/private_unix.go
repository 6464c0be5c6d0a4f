//go:build unix

package token

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// open opens a file, and neither follows a link in its place nor waits for the other end of a FIFO.
func open(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.EMLINK), // a link; the latter on FreeBSD
		errors.Is(err, syscall.ENXIO): // a socket
		return nil, notRegular(file)
	case err != nil:
		return nil, fmt.Errorf("read the token's file: %w", err)
	}
	return f, nil
}

// foreign says why others than a user may use a file; "": they may not.
func foreign(info fs.FileInfo, uid int) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != uid {
		return fmt.Sprintf("belongs to the user with the number %d, and this process is number %d", s.Uid, uid)
	}
	if shared(info) {
		return fmt.Sprintf("can be used by other users of this machine (mode %04o)", info.Mode().Perm())
	}
	return ""
}

func shared(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
