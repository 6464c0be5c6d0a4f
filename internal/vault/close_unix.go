//go:build unix && !linux

package vault

import (
	"errors"
	"os"
)

// closeProcess only keeps the process from leaving a core. macOS lets no process trace another that
// was not made for that.
func closeProcess() bool {
	noCore()
	return false
}

// pipeHolds is what fits into a pipe everywhere.
const pipeHolds = 16 << 10

func widen(_, size int) error {
	if size > pipeHolds {
		return errors.New("a pipe does not hold them")
	}
	return nil
}

func self() (string, error) { return os.Executable() }

func rename(string) {}
