//go:build unix

package embedded

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// holdPort binds a free TCP port of the loopback address and keeps it. It does not listen: ClickHouse does, on the same port,
// which the system allows to processes of the same user only. So nobody else can listen on it as long as the engine process
// lives, whatever becomes of ClickHouse.
func holdPort() (hold *os.File, port int, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("find a free port: %w", err)
	}
	unix.CloseOnExec(fd)
	hold = os.NewFile(uintptr(fd), "port")
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte(net.ParseIP(listenHost).To4())})
	}
	var bound unix.Sockaddr
	if err == nil {
		bound, err = unix.Getsockname(fd)
	}
	if err != nil {
		_ = hold.Close()
		return nil, 0, fmt.Errorf("find a free port: %w", err)
	}
	return hold, bound.(*unix.SockaddrInet4).Port, nil //nolint:forcetypeassert // it was bound as one
}
