//go:build !unix

package embedded

import (
	"context"
	"net"
	"os"
	"os/exec"
)

func lockFolder(context.Context, string) (*os.File, error) { return nil, ErrUnsupported }

func holdPort() (*os.File, int, error) { return nil, 0, ErrUnsupported }

func peerUser(*net.UnixConn) (uint32, error) { return 0, ErrUnsupported }

func restrictFiles() {}

func detach(*exec.Cmd) {}
