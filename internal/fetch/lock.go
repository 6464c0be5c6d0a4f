package fetch

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/internal/source"
)

const lockPoll = 15 * time.Millisecond // flock cannot wait and listen to a context at once

// Lock takes an exclusive file lock. It calls waiting once if another process has it.
func Lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|source.NonBlock), flock.SetPermissions(0o600))
	got, err := l.TryLock()
	if err == nil && !got {
		waiting()
		_, err = l.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = l.Unlock() }, nil // the lock ends with the descriptor in any case
}
