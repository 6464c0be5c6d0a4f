// Package audit keeps who has changed something, or tried to: a file of lines in the home folder, to which is only added.
// A line has names and ids, and never what was said: no values, no secrets, no tokens.
package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/internal/failure"
)

// What is changed.
const (
	Answer      = "answer"
	Signal      = "signal"
	Audible     = "audible"
	Run         = "run"
	Cancel      = "cancel"
	Resume      = "resume"
	Fork        = "fork"
	GrantRevoke = "grant_revoke"
	TokenCreate = "token_create"
	TokenRevoke = "token_revoke"

	MemoryEdit   = "memory_edit"
	MemoryImport = "memory_import"
	MemoryForget = "memory_forget"

	Context = "context" // what a person takes out of the context of a session, or back into it

	MemoEdit   = "memo_edit"
	MemoImport = "memo_import"
	MemoForget = "memo_forget"

	CascadeSave = "cascade_save"

	Request = "request" // one that was refused before it was known what it changes
)

// How it ended.
const (
	Done    = "done"
	Refused = "refused"
)

// Line is one change, or one attempt.
type Line struct {
	At      time.Time `json:"at"`
	By      string    `json:"by"`  // a user of the system, the name of a token, a session
	Via     string    `json:"via"` // see echo.Via
	What    string    `json:"what"`
	Target  string    `json:"target,omitempty"`  // the id of a wait, the letter of a signal, a session, the name of a token, of a bank and a path in it, of a memo
	Session string    `json:"session,omitempty"` // that the target belongs to
	Outcome string    `json:"outcome"`
	Reason  string    `json:"reason,omitempty"` // of a refusal: the kind of the error
}

const (
	file     = "audit.jsonl"
	lockFile = "audit.lock"
	lockTime = 10 * time.Second
	maxLine  = 64 << 10
	maxText  = 512 // of a member, in bytes: what is longer was sent by nobody who means well
)

// Path returns the file of a home folder.
func Path(home string) string { return filepath.Join(home, file) }

// Files returns the files in a home folder that are the audit's.
func Files(home string) []string { return []string{Path(home), filepath.Join(home, lockFile)} }

// Do makes a change and adds its line, with the outcome. Without a place for the line nothing is changed. Other
// processes wait meanwhile. The error is that of the change, or of the kind StorageFailed.
func Do(ctx context.Context, home string, l Line, change func() error) error {
	w, err := open(ctx, home)
	if err != nil {
		return failure.New(failure.StorageFailed, fmt.Errorf("keep the audit of this change: %w", err), "make "+Path(home)+" a file that you can write")
	}
	defer w.close()
	err = change()
	if written := w.add(l.Ended(err)); written != nil {
		return errors.Join(err, failure.New(failure.StorageFailed, fmt.Errorf("keep the audit of this change: %w", written), ""))
	}
	return err
}

// Ended returns the line of a change with its outcome.
func (l Line) Ended(err error) Line {
	l.Outcome = Done
	if err != nil {
		l.Outcome, l.Reason = Refused, string(failure.KindOf(err))
	}
	return l
}

// Add adds the line of a change that has ended, see [Line.Ended].
func Add(ctx context.Context, home string, l Line) error {
	w, err := open(ctx, home)
	if err != nil {
		return failure.New(failure.StorageFailed, fmt.Errorf("keep the audit: %w", err), "")
	}
	defer w.close()
	return w.add(l)
}

type writer struct {
	lock *flock.Flock
	file *os.File
}

func open(ctx context.Context, home string) (*writer, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(home, lockFile), flock.SetPermissions(0o600))
	patience, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	switch taken, err := lock.TryLockContext(patience, 2*time.Millisecond); {
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", Path(home), err)
	case !taken:
		return nil, fmt.Errorf("lock %s: another process keeps it", Path(home))
	}
	f, err := openFile(Path(home))
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &writer{lock, f}, nil
}

func openFile(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is a link or something else that is no file", path)
	}
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
}

// add writes a line in one piece, after the end of one that was cut off.
func (w *writer) add(l Line) error {
	l.At = l.At.UTC()
	for _, text := range []*string{&l.By, &l.Via, &l.What, &l.Target, &l.Session, &l.Reason} {
		*text = (*text)[:min(len(*text), maxText)]
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if text = append(text, '\n'); w.torn() {
		text = append([]byte{'\n'}, text...)
	}
	if _, err := w.file.Write(text); err != nil {
		return err
	}
	return w.file.Sync()
}

func (w *writer) torn() bool {
	info, err := w.file.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = w.file.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

func (w *writer) close() {
	_ = w.file.Close() // what was written is synced
	_ = w.lock.Close()
}

// Read returns the newest lines, at most so many, the oldest of them first, and how many lines of the file cannot be read.
func Read(home string, most int) (lines []Line, damaged int, err error) {
	f, err := os.Open(Path(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, failure.New(failure.StorageFailed, fmt.Errorf("read the audit: %w", err), "")
	}
	defer f.Close() //nolint:errcheck // only read from
	in := bufio.NewReaderSize(f, maxLine)
	for {
		text, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue // its last piece is counted
		case err != nil && !errors.Is(err, io.EOF):
			return nil, 0, failure.New(failure.StorageFailed, fmt.Errorf("read the audit: %w", err), "")
		}
		var l Line
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if json.Unmarshal(text, &l) != nil || l.What == "" || l.At.IsZero() {
				damaged++
			} else if lines = append(lines, l); len(lines) > most {
				lines = lines[1:]
			}
		}
		if err != nil {
			return lines, damaged, nil
		}
	}
}
