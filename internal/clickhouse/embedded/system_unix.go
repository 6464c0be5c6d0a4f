//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// holdPort binds a free TCP port of the loopback address without listening: ClickHouse does that,
// which the system allows only to processes of the same user while the port is bound.
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

// lockFolder takes the lock of an engine's folder for children to inherit: it ends with the last of
// them. Others take it for an instant to look at it, so one failure proves nothing.
func lockFolder(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(lockPoll):
		}
	}
}

func restrictFiles() { syscall.Umask(0o077) }

// detach gives the child a session of its own: neither a terminal nor this process ends it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
