//go:build unix && !linux && !darwin

package embedded

import (
	"errors"
	"net"
)

// peerUser is unknown here: only the socket's folder keeps others out.
func peerUser(*net.UnixConn) (uint32, error) { return 0, errors.ErrUnsupported }
