//go:build !linux || !(amd64 || arm64)

package sandbox

import "runtime"

// Missing says what this system cannot confine, one text for each kind of access.
func Missing() []string {
	return []string{"files, the network and programs: windlass confines processes on Linux (amd64, arm64) only, not on " +
		runtime.GOOS + "/" + runtime.GOARCH}
}

func confineThread(Policy) error { return nil }

func isFirstThread() bool { return false }
