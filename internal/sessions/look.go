package sessions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/delivery"
)

// What a session is that has no end in its journal. The others are names of echo.Status.
const (
	Running = "running" // a process owns it
	Killed  = "killed"  // nobody does: its process died
)

// Session is what a session's folder says without reading all of its journal.
type Session struct {
	ID        string
	Dir       string
	Header    journal.Header
	CascadeID string
	StartedAt time.Time  // zero: not known
	Last      uint64     // number of the newest entry; 0: there is none
	LastAt    time.Time  // when it was recorded
	End       record.End // how the run ended
	Busy      bool       // a process owns the session at this moment
	Torn      bool       // the last line was cut off in the middle
	Marks     delivery.Marks
	Err       error // why the folder cannot be read; what it would have said is missing then
}

// Status says what has become of the session: [Running], [Killed], or how its run ended. A process
// that died while it recorded why its run stopped has left that.
func (s *Session) Status() string {
	switch {
	case s.End.Whole:
	case s.Busy:
		return Running
	case s.End.Status == echo.StatusRunning:
		return Killed
	}
	return s.End.Status.String()
}

// Waiting returns how many entries a ClickHouse does not have yet, as far as is known here.
func (s *Session) Waiting(to string) uint64 {
	m := s.Marks.Of(to)
	if m.Before || m.Seq > s.Last || m.Seq == s.Last && !m.EntryAt.Equal(s.LastAt) {
		return s.Last
	}
	return s.Last - m.Seq
}

// Pending reports whether a session is to be delivered to a ClickHouse by itself.
func (s *Session) Pending(to string) bool {
	return s.Err == nil && !s.Busy && !s.Marks.KeepHere && s.Waiting(to) > 0
}

// Look reads what a session's folder says. Without a journal the error is [os.ErrNotExist]. The
// session is never nil; what was found wrong is also in its Err.
func Look(dir string) (*Session, error) {
	s := &Session{ID: filepath.Base(dir), Dir: dir, End: record.EndOf(nil)}
	s.Err = s.look()
	return s, s.Err
}

func (s *Session) look() error {
	// The owner is asked first: a run that ends in between is not taken for a killed one.
	busy, lockErr := journal.Busy(s.Dir)
	ends, err := journal.Look(filepath.Join(s.Dir, journal.File), s.lookBack)
	if errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.Busy, s.Marks = busy, delivery.ReadMarks(s.Dir)
	if ends != nil {
		s.Header, s.Torn, s.CascadeID = ends.Header, ends.Torn, CascadeID(ends.Header.Cascade)
		s.StartedAt = began(s.ID, s.Header.StartedAt)
	}
	return cmp.Or(lockErr, err)
}

// began returns when a session began: the time in its header, or in an id that windlass made when
// that is later. A fork that an earlier windlass made has the time of its parent in its header.
func began(id string, header time.Time) time.Time {
	made, err := ulid.ParseStrict(id)
	if err != nil || header.IsZero() {
		return header
	}
	if at := made.Timestamp(); at.After(header) && at.Before(time.Now()) { // else a person chose the id
		return at.UTC()
	}
	return header
}

// CascadeID returns the name of a cascade, usually its first member, or "".
func CascadeID(cascade json.RawMessage) (id string) {
	members := json.NewDecoder(bytes.NewReader(cascade))
	if start, err := members.Token(); err != nil || start != json.Delim('{') {
		return ""
	}
	for members.More() {
		name, err := members.Token()
		if name == "cascade_id" {
			_ = members.Decode(&id) // a name that is no text is none
			return id
		}
		var other json.RawMessage
		if err != nil || members.Decode(&other) != nil {
			return ""
		}
	}
	return ""
}

// Folder returns the project folder of a session by what the header of its journal says of its start, or "".
func Folder(options json.RawMessage) string {
	var started struct {
		Dir string `json:"dir"`
	}
	_ = json.Unmarshal(options, &started) // what is no start has no folder
	if !filepath.IsAbs(started.Dir) || strings.Contains(started.Dir, "\x00") {
		return ""
	}
	return started.Dir
}

// Tags returns the tags of a cascade, each once, without empty ones.
func Tags(cascade json.RawMessage) (tags []string) {
	var c struct {
		Tags []string `json:"tags"`
	}
	_ = json.Unmarshal(cascade, &c) // what is no cascade has no tags
	for _, t := range c.Tags {
		if t != "" && !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	return tags
}

// lookBack takes the next entry from the end, until there is the one that says how the run stands.
func (s *Session) lookBack(e *echo.Entry) (more bool) {
	if s.Last == 0 {
		s.Last, s.LastAt = e.Seq, e.At
	}
	if e.Background() { // may come after the end of a run
		return true
	}
	s.End = record.EndAt(e)
	return false
}

// Resumable reports whether the run can be resumed, as far as its end says: one that failed may
// have failed for something that would happen again, which only all of its record says, see
// record.ResumptionOf; and its rules may be none of this engine's.
func (s *Session) Resumable() bool { return s.Err == nil && !s.Busy && s.End.MayResume() }
