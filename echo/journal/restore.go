package journal

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/windlass-run/windlass/echo/journal/chain"
)

// restore appends to the journal of a session what continues it, and syncs it. done says that the
// lines are needed no longer.
func (r *recovery) restore(session string, lines []loggedLine) (done bool, err error) {
	dir := filepath.Join(r.store.sessions, session)
	path := filepath.Join(dir, File)
	if err := requireVersion(path); err != nil {
		return r.passOver(dir, err)
	}
	lock, err := acquire(dir)
	if err != nil {
		r.busy[session] = errors.Is(err, ErrBusy)
		return r.passOver(dir, err)
	}
	done, err = r.restoreOwned(path, lines)
	return done, errors.Join(err, lock.Close())
}

// passOver says what becomes of the lines of a session that cannot be restored for a reason. Those of
// one that was removed are needed no longer. Who has the session, or what is in its place, may be
// gone the next time, and another windlass may read its journal.
func (r *recovery) passOver(dir string, reason error) (done bool, err error) {
	switch {
	case errors.Is(reason, os.ErrNotExist):
		_, err := os.Lstat(dir)
		_, noSessions := os.Lstat(r.store.sessions)
		return errors.Is(err, os.ErrNotExist) && noSessions == nil, nil
	case IsUnreadable(reason), errors.Is(reason, ErrBusy), errors.Is(reason, errLink), errors.Is(reason, errNoFile), errors.Is(reason, errNoFolder):
		return false, nil
	}
	return false, reason
}

func (r *recovery) restoreOwned(path string, lines []loggedLine) (done bool, err error) {
	first := slices.MinFunc(lines, func(a, b loggedLine) int { return cmp.Compare(a.seq, b.seq) })
	end, err := soundEnd(path, max(first.seq, 1))
	if err != nil || end == nil {
		return false, err
	}
	if end.damaged {
		return !slices.ContainsFunc(lines, func(l loggedLine) bool { return l.seq > end.seq }), nil
	}
	f, err := r.store.on.Open(path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	missing, rest := end.continued(lines)
	if err := r.setAside(path, end, missing, rest); err != nil {
		return false, err
	}
	return true, end.complete(journalFile{f, r.store.on, path}, missing)
}

// setAside keeps what the journal is about to lose, see [maker.setAside].
func (r *recovery) setAside(path string, end *journalEnd, missing, rest []byte) error {
	l := lost{path: path, from: end.size, rest: rest}
	if end.unwritten || len(missing) > 0 {
		l.tail = end.whole - end.size
	}
	whole, err := end.isTorn(path, missing)
	if err != nil {
		return err
	}
	if whole {
		l.tail = 0
	}
	if l.tail == 0 && len(rest) == 0 {
		return nil
	}
	return maker{on: r.store.on}.setAside(l)
}

// isTorn reports whether what is behind the end is the beginning of what is missing.
func (e *journalEnd) isTorn(path string, missing []byte) (bool, error) {
	size := e.whole - e.size
	if size > int64(len(missing)) {
		return false, nil
	}
	f, err := openOwn(path, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // only read from
	tail, err := io.ReadAll(io.NewSectionReader(f, e.size, size))
	return err == nil && bytes.HasPrefix(missing, tail), err
}

// complete puts what is missing in the place of what follows the end, and syncs the journal. What the
// logs have is written even where it is there: its process may have ended because it could not be
// synced, see [journalFile].
func (e *journalEnd) complete(f journalFile, missing []byte) error {
	if len(missing) > 0 || e.unwritten {
		if err := cut(f.path, f, e.size); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		if _, err := f.Write(missing); err != nil {
			return errors.Join(err, f.Truncate(e.size))
		}
	}
	if err := f.rewrite(e.mark); err != nil {
		return err
	}
	return f.Sync()
}

// continued returns the lines, one after the other, that continue the journal, and the rest of those
// that are not in it.
func (e *journalEnd) continued(lines []loggedLine) (text, rest []byte) {
	slices.SortStableFunc(lines, func(a, b loggedLine) int { return cmp.Compare(a.seq, b.seq) })
	sum, seq := e.sum, e.seq
	seen := map[string]bool{}
	for _, line := range lines {
		next, ok := e.follows(sum, seq, line)
		switch {
		case ok:
			text = append(text, line.text...)
			sum, seq = next, seq+1
		case line.seq > e.seq && !seen[string(line.text)]:
			rest = append(rest, line.text...)
		default:
			continue
		}
		seen[string(line.text)] = true
	}
	return text, rest
}

// follows reports whether a line is the one after that of a sum and a number, and returns its sum.
func (e *journalEnd) follows(sum chain.Sum, seq uint64, line loggedLine) (chain.Sum, bool) {
	if line.seq != seq+1 {
		return sum, false
	}
	next, err := sum.Check(line.text)
	if err != nil {
		return sum, false
	}
	entry, err := decodeEntry(line.text, e.header)
	return next, err == nil && checkSeq(entry, seq+1) == nil
}
