package embedded

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openTerminal returns the two ends of a new pseudo-terminal.
func openTerminal() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	name, err := grantTerminal(master.Fd())
	if err == nil {
		slave, err = os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		_ = master.Close()
		return nil, nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	return master, slave, nil
}

// grantTerminal unlocks the other end of a pseudo-terminal and returns its path.
func grantTerminal(fd uintptr) (string, error) {
	var name [128]byte // the size is part of the request's number
	for _, request := range []struct {
		number uintptr
		arg    unsafe.Pointer
	}{{unix.TIOCPTYGRANT, nil}, {unix.TIOCPTYUNLK, nil}, {unix.TIOCPTYGNAME, unsafe.Pointer(&name[0])}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, request.number, uintptr(request.arg)); errno != 0 {
			return "", errno
		}
	}
	return string(name[:max(bytes.IndexByte(name[:], 0), 0)]), nil
}
