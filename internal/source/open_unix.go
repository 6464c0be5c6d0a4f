//go:build unix

package source

import "syscall"

// NonBlock is the flag of [os.OpenFile] that keeps the opening of a named pipe from waiting for its
// other end.
const NonBlock = syscall.O_NONBLOCK
