//go:build unix

package tool

import "syscall"

// openNonblock keeps the opening of a named pipe from waiting for its other end.
const openNonblock = syscall.O_NONBLOCK
