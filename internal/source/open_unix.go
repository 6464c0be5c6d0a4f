//go:build unix

package source

import "syscall"

// NonBlock is the flag of [os.OpenFile] that does not wait for the other end of a named pipe.
const NonBlock = syscall.O_NONBLOCK
