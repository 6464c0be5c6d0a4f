// Package audibles leaves what people say to the runs of this machine while these go on, and lists it.
package audibles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/waits"
)

// MaxText is how long an audible may be, in bytes.
const MaxText = 64 << 10

// Said is what a person says to a session.
type Said struct {
	Session string // its whole id
	Letter  string // the id of what is said: the same is left once
	Text    string
	Retry   bool   // take the newest answer back
	Phase   string // that it is for; "": whichever takes audibles first
	By      string
	Via     echo.Via
}

// Left says what became of it.
type Left struct {
	Letter  string      `json:"letter"`
	Session string      `json:"session"`
	Status  echo.Status `json:"status"` // of the session: running also of one whose process died
}

// Say leaves what a person says, and a line of the audit. The error has the kind InvalidRequest when nothing in the session takes it,
// NotResumable when the session has ended.
func Say(ctx context.Context, home string, now time.Time, s Said) (left Left, err error) {
	l := audit.Line{At: now.UTC(), By: s.By, Via: string(s.Via), What: audit.Audible, Target: s.Letter, Session: s.Session}
	err = audit.Do(ctx, home, l, func() error {
		left, err = say(home, now, &s)
		return err
	})
	return left, err
}

func say(home string, now time.Time, s *Said) (Left, error) {
	rec, err := read(home, s.Session)
	if err != nil {
		return Left{}, err
	}
	if err := mailbox.CheckLetter(s.Letter); err != nil {
		return Left{}, failure.New(failure.InvalidRequest, err, mailbox.TryLetter)
	}
	end, box := record.EndOf(rec.Entries), mailbox.Audibles{Box: waits.Box(home, s.Session)}
	if !box.IsSaid(s.Letter) { // what is said twice is said once, also after the end
		if err := check(rec, end, s); err != nil {
			return Left{}, err
		}
	}
	err = box.Say(mailbox.Audible{Phase: s.Phase, Audible: echo.Audible{
		Letter: s.Letter, Text: s.Text, Retry: s.Retry, By: s.By, Via: s.Via, At: now.UTC(),
	}})
	switch {
	case errors.As(err, new(*mailbox.OtherAudibleError)):
		return Left{}, failure.New(failure.LetterTaken, err, "another letter, or none, for other words")
	case err != nil:
		return Left{}, failure.New(failure.StorageFailed, err, "")
	}
	return Left{Letter: s.Letter, Session: s.Session, Status: end.Status}, nil
}

// read reads the record of a session.
func read(home, session string) (*journal.Recording, error) {
	if !journal.IsSessionID(session) {
		return nil, failure.New(failure.UnknownSession, fmt.Errorf("%q is no id of a session", session), "")
	}
	rec, err := journal.Read(filepath.Join(config.SessionDir(home, session), journal.File))
	switch {
	case err == nil:
		return rec, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.New(failure.UnknownSession, fmt.Errorf("there is no session %s on this machine", session), "")
	case errors.As(err, new(*journal.VersionError)):
		return nil, failure.New(failure.OtherVersion, err, "")
	}
	return nil, failure.New(failure.Damaged, fmt.Errorf("session %s: %w", session, err), "")
}

// check says why nobody would hear what is said.
func check(rec *journal.Recording, end record.End, s *Said) error {
	switch {
	case strings.TrimSpace(s.Text) == "":
		return failure.New(failure.InvalidRequest, errors.New("the audible says nothing"), `windlass audible SESSION "what you want to say"`)
	case len(s.Text) > MaxText:
		return failure.New(failure.InvalidRequest, fmt.Errorf("the audible has %d bytes, at most %d are taken", len(s.Text), MaxText), "say where the rest is, such as in which file")
	case !utf8.ValidString(s.Text):
		return failure.New(failure.InvalidRequest, errors.New("the audible is no UTF-8 text"), "convert it, such as with iconv -t UTF-8")
	case end.Whole && !record.CanResume(end.Status, end.Reason):
		return failure.New(failure.NotResumable, fmt.Errorf("session %s has ended (%s): nothing in it hears an audible", s.Session, end.Status), "windlass run begins another one")
	}
	var c cascade.Cascade
	if err := json.Unmarshal(rec.Header.Cascade, &c); err != nil {
		return failure.New(failure.Damaged, fmt.Errorf("read the cascade of session %s: %w", s.Session, err), "")
	}
	takes, err := checkCascade(&c, s)
	if err == nil && s.Phase != "" && c.IsGraph() && hasEnded(rec.Entries, s.Phase) {
		return failure.New(failure.InvalidRequest, fmt.Errorf("phase %q of session %s has ended: nothing in it hears an audible", s.Phase, s.Session), takenBy(takes))
	}
	return err
}

// hasEnded reports whether a phase of a graph, which runs once, has ended well.
func hasEnded(entries []*echo.Entry, phase string) bool {
	return slices.ContainsFunc(entries, func(e *echo.Entry) bool {
		if e.NodeType != echo.NodePhaseEnd || e.Phase != phase {
			return false
		}
		end, err := echo.Read[echo.PhaseEnd](e)
		return err == nil && end.Status.IsSuccess()
	})
}

// checkCascade holds what is said against the audibles of the cascade, and returns the phases that take some.
func checkCascade(c *cascade.Cascade, s *Said) (takes []string, err error) {
	var retries []string
	known := false
	for p := range c.EachPhase() {
		known = known || p.Name == s.Phase
		if a := c.AudiblesOf(p); a != nil {
			takes = append(takes, p.Name)
			if a.Retries() {
				retries = append(retries, p.Name)
			}
		}
	}
	serves := func(list []string) bool { return len(list) > 0 && (s.Phase == "" || slices.Contains(list, s.Phase)) }
	switch {
	case s.Phase != "" && !known:
		return takes, failure.New(failure.InvalidRequest, fmt.Errorf("cascade %q has no phase %q", c.CascadeID, s.Phase), takenBy(takes))
	case !serves(takes) && s.Phase != "":
		return takes, failure.New(failure.InvalidRequest, fmt.Errorf("phase %q of cascade %q takes no audibles", s.Phase, c.CascadeID), takenBy(takes))
	case !serves(takes):
		return takes, failure.New(failure.InvalidRequest, fmt.Errorf("no phase of cascade %q takes audibles", c.CascadeID), `"audibles": true in the cascade, or in a phase that asks a model, before the run begins`)
	case s.Retry && !serves(retries):
		return takes, failure.New(failure.InvalidRequest, fmt.Errorf("cascade %q lets nobody take an answer back (allow_retry is false)", c.CascadeID), "say it without --retry")
	}
	return takes, nil
}

func takenBy(phases []string) string {
	if len(phases) == 0 {
		return `"audibles": true in the cascade, or in a phase that asks a model, before the run begins`
	}
	return "the phases that take audibles are " + strings.Join(phases, ", ")
}

// Heard is what a person has said to a session.
type Heard struct {
	mailbox.Audible
	Taken string `json:"taken,omitempty"` // the key of the place in the run that has taken it; "": none has
	Ended bool   `json:"ended,omitempty"` // none will: the run has ended
}

// List returns what was said to a session, the oldest first, and errors for what cannot be read. What the session has recorded
// is there also where its letter is gone, as after a redaction.
func List(home, session string) (list []*Heard, damaged []error, err error) {
	rec, err := read(home, session)
	if err != nil {
		return nil, nil, err
	}
	box := waits.Box(home, session)
	all, err := mailbox.Audibles{Box: box}.All()
	if err != nil {
		return nil, nil, failure.New(failure.StorageFailed, err, "")
	}
	end := record.EndOf(rec.Entries)
	over := end.Whole && !record.CanResume(end.Status, end.Reason)
	left := map[string]*Heard{}
	for _, a := range all {
		h := &Heard{Audible: *a, Taken: a.Taken, Ended: over && a.Taken == ""}
		left[a.Letter] = h
		list = append(list, h)
	}
	for _, e := range rec.Entries {
		a, err := echo.Read[echo.Audible](e)
		switch h := left[a.Letter]; {
		case err != nil || a.Problem != "":
		case h != nil:
			h.Unsaid = a.Unsaid
		default:
			list = append(list, &Heard{Audible: mailbox.Audible{Audible: a}, Taken: e.Key.String()})
		}
	}
	slices.SortStableFunc(list, func(a, b *Heard) int { return a.At.Compare(b.At) })
	return list, box.Damaged(), nil
}
