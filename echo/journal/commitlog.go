package journal

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// A commit log has zeros ahead of what is written, as much as it has already, within these bounds:
// to sync what replaces zeros costs less than to sync a file that grows.
const (
	minAhead = 64 << 10
	maxAhead = 1 << 20
)

var zeros [maxAhead]byte

// maxCommitLog is how long a commit log grows, not counting the last write.
const maxCommitLog = 32 << 20

// logFile and lockSuffix name the files of the commit folder: the logs of a process in their order,
// and the file that the process holds a lock of. Both begin with an id of the process.
const (
	logFile    = "%s-%d.log"
	lockSuffix = ".lock"
)

// commitLog is the file that a process makes the lines of its journals durable by: it has them as
// they are in the journals. When it is full another file is begun, and the one before is removed
// once every journal is synced, which a goroutine sees to. One goroutine writes; mu guards what it
// shares with that other one.
type commitLog struct {
	folder string
	on     files
	limit  int64

	id     string // of the process
	lock   *flock.Flock
	path   string
	number int   // of the file
	file   disk  // nil: there is none yet
	fresh  bool  // the name of the file is not durable yet
	at     int64 // where the next line goes
	ahead  int64 // where the zeros end
	err    error // the first failure; nothing is written after it

	retiring sync.WaitGroup
	mu       sync.Mutex
	retired  retired
}

// retired is what became of the files before.
type retired struct {
	busy bool  // one is being removed
	kept bool  // one stays, for a recovery
	err  error // why the first of those that stay does, when that is not what a closed journal has said
}

// begun reports whether there is a file.
func (l *commitLog) begun() bool { return l.file != nil }

// write appends whole lines and makes them durable. When it fails the file has none of them, as far
// as the disk lets it.
func (l *commitLog) write(lines []byte) error {
	if l.err != nil || len(lines) == 0 {
		return l.err
	}
	if l.file == nil {
		if err := l.begin(); err != nil {
			l.err = fmt.Errorf("begin commit log: %w", err)
			return l.err
		}
	}
	if err := l.append(lines); err != nil {
		l.err = fmt.Errorf("commit log %s: %w", l.path, errors.Join(err, l.file.Truncate(l.at)))
	}
	return l.err
}

func (l *commitLog) append(lines []byte) error {
	after := l.at + int64(len(lines))
	if _, err := l.file.WriteAt(lines, l.at); err != nil {
		return err
	}
	if after > l.ahead {
		l.ahead = after + l.fill(after)
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	if l.fresh {
		if err := l.on.SyncDir(l.folder); err != nil {
			return err
		}
	}
	l.fresh, l.at = false, after
	return nil
}

// fill writes zeros, and returns how many. That there is no room for them is no failure: they only
// make the next writes quicker.
func (l *commitLog) fill(at int64) int64 {
	n := min(max(l.ahead, minAhead), maxAhead)
	if _, err := l.file.WriteAt(zeros[:n], at); err != nil {
		_ = l.file.Truncate(at) // others need the room
		return 0
	}
	return n
}

// begin makes the next file, and before the first one the lock that says whose the files are.
func (l *commitLog) begin() error {
	if l.lock == nil {
		if err := l.own(); err != nil {
			return err
		}
	}
	path := filepath.Join(l.folder, fmt.Sprintf(logFile, l.id, l.number+1))
	f, err := l.on.Create(path)
	if err != nil {
		return err
	}
	l.path, l.file, l.fresh, l.at, l.ahead = path, f, true, 0, 0
	l.number++
	return nil
}

// own takes an id and its lock. A recovery, which may take its time, is not waited for: it looks at
// the locks of logs only, and there is none of this id yet.
func (l *commitLog) own() error {
	if err := makeGate(l.folder); err != nil {
		return err
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	l.id = hex.EncodeToString(id[:])
	lock := flock.New(filepath.Join(l.folder, l.id+lockSuffix), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err == nil && !ok {
		err = errors.New("its lock is taken")
	}
	l.lock = lock
	return err
}

// full reports whether it is time for another file.
func (l *commitLog) full() bool {
	if l.file == nil || l.at < l.limit {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.retired.busy
}

// rotate has the next write begin another file. The one that there is is removed when the given
// journals, which are all that are open, are synced, and no closed one is behind.
func (l *commitLog) rotate(open []*Journal, behind bool) {
	path, f := l.path, l.file
	l.file = nil
	l.mu.Lock()
	l.retired.busy = true
	l.mu.Unlock()
	l.retiring.Go(func() {
		err := f.Close()
		for _, j := range open {
			err = errors.Join(err, j.checkpoint())
		}
		if err == nil && !behind {
			err = l.on.Remove(path)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.retired = retired{kept: l.retired.kept || behind || err != nil, err: cmp.Or(l.retired.err, err)}
	})
}

// end closes the log, and removes it and its lock when no recovery needs them.
func (l *commitLog) end(remove bool) error {
	l.retiring.Wait()
	if l.lock == nil {
		return nil
	}
	errs := []error{l.retired.err}
	if l.file != nil {
		errs = append(errs, l.file.Close())
		if remove {
			errs = append(errs, l.on.Remove(l.path))
		}
	}
	if remove && !l.retired.kept {
		_ = os.Remove(l.lock.Path()) // a recovery removes it, too
	}
	return errors.Join(append(errs, l.lock.Close())...)
}
