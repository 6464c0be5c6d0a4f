package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// gateFile is locked by who recovers.
const gateFile = "lock"

// gateLimit is how long somebody else may recover.
const gateLimit = time.Minute

var (
	errNotOwn = errors.New("it belongs to another user, or others may write to it")
	errGate   = fmt.Errorf("another windlass has been restoring sessions for more than %v", gateLimit)
)

// CommitFolderError says why the folder of commit logs cannot be used.
type CommitFolderError struct {
	Path string
	Err  error
}

// Error says what can be done.
func (e *CommitFolderError) Error() string {
	return fmt.Sprintf("use commit folder %s, which keeps sessions safe from a power failure: %v", e.Path, e.Err)
}

// Try returns the next step.
func (e *CommitFolderError) Try() string {
	if errors.Is(e.Err, errGate) {
		return "wait until it is done; end it when it hangs: what it has not restored the next windlass does"
	}
	return "make it a folder of your own that only you may write to, with mode 0700, or set WINDLASS_HOME to another folder"
}

// Unwrap returns the reason.
func (e *CommitFolderError) Unwrap() error { return e.Err }

// makeCommitFolder makes the folder of commit logs, or demands that the one that there is is the
// user's own.
func makeCommitFolder(on files, folder string) error {
	err := makeDurable(on, folder)
	if err == nil {
		err = requireOwn(folder, true)
	}
	if err == nil {
		err = requireWritable(folder)
	}
	if err != nil {
		return &CommitFolderError{Path: folder, Err: err}
	}
	return nil
}

// requireOwn demands that nobody else can have made or changed a file, or a folder, of commit logs:
// what is in it goes into journals.
func requireOwn(path string, folder bool) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case folder && !info.IsDir(), !folder && !info.Mode().IsRegular():
		return &fs.PathError{Op: "open", Path: path, Err: errKind(folder)}
	case !isOwn(info):
		return &fs.PathError{Op: "open", Path: path, Err: errNotOwn}
	}
	return nil
}

func errKind(folder bool) error {
	if folder {
		return errors.New("it is not a folder")
	}
	return errNoFile
}

// makeGate makes the gate of a commit folder: it is to belong to who has the logs, not to an
// administrator who recovers.
func makeGate(folder string) error {
	path := filepath.Join(folder, gateFile)
	if err := requireRegular(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|nonblock, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// enter waits for the gate of a commit folder.
func enter(ctx context.Context, folder string) (*flock.Flock, error) {
	path := filepath.Join(folder, gateFile)
	if err := requireRegular(path); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, gateLimit, errGate)
	defer cancel()
	gate := flock.New(path, flock.SetPermissions(0o600))
	ok, err := gate.TryLockContext(ctx, lockLimit/20)
	if !ok && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return gate, nil
}
