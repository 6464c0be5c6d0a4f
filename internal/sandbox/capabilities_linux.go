//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// kept are the capabilities that root keeps, over files of others (as in a mounted folder), which
// Landlock still bounds.
const kept = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER

// dropCapabilities gives up the thread's capabilities, and what root would get back from a program.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData // the lower and the upper 32 capabilities
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	if data[0].Permitted|data[1].Permitted == 0 {
		return nil
	}
	if data[0].Effective&(1<<unix.CAP_SETPCAP) != 0 {
		for c := uintptr(0); c <= 63; c++ {
			if c < 32 && kept&(1<<c) != 0 {
				continue
			}
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) { // no such capability
				return fmt.Errorf("give up capability %d: %w", c, err)
			}
		}
	}
	data[0] = unix.CapUserData{Permitted: data[0].Permitted & kept, Effective: data[0].Effective & kept}
	data[1] = unix.CapUserData{}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}
