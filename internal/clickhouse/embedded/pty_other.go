//go:build !linux && !darwin

package embedded

import "os"

func openTerminal() (master, slave *os.File, err error) { return nil, nil, ErrUnsupported }
