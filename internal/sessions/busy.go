package sessions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// isBusy reports whether a process owns a session. It asks for a share of the lock, which others who ask do not notice.
func isBusy(dir string) (bool, error) {
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	if errors.Is(err, os.ErrNotExist) {
		return false, nil // a journal that was brought here
	}
	if err != nil {
		return false, fmt.Errorf("look at the lock of session %s: %w", filepath.Base(dir), err)
	}
	if free {
		return false, lock.Close()
	}
	return true, nil
}
