//go:build linux || darwin

package embedded

import "net"

// peerUser returns the user of the process at the other end, as the kernel noted it.
func peerUser(c *net.UnixConn) (uid uint32, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	if cerr := raw.Control(func(fd uintptr) { uid, err = socketPeer(int(fd)) }); cerr != nil {
		return 0, cerr
	}
	return uid, err
}
