// Package waits says what the sessions of this machine wait for, and leaves what people and programs
// answer in their mailboxes.
package waits

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/sessions"
	"github.com/windlass-run/windlass/schema"
)

// Wait is a wait that has no answer in the record of its session.
type Wait struct {
	ID string `json:"id"`
	Place
	Kind     echo.WaitKind     `json:"kind"`
	Asked    string            `json:"asked"` // in words, one line or more
	Form     *echo.Form        `json:"form,omitempty"`
	Call     *echo.AwaitedCall `json:"call,omitempty"`
	Shown    echo.Hash         `json:"shown,omitempty"` // what an answer to an approval has to name
	Signal   string            `json:"signal,omitempty"`
	Since    time.Time         `json:"since"`
	Deadline *time.Time        `json:"deadline,omitempty"`
	CostUSD  *float64          `json:"cost_usd"`         // of the session so far; nil: not known
	Answer   *echo.Answer      `json:"answer,omitempty"` // that was left and not taken yet
}

// Place is where a wait is.
type Place struct {
	Session string   `json:"session"`
	Root    string   `json:"root"` // the session to resume: the one above all others
	Cascade string   `json:"cascade"`
	Phase   string   `json:"phase"`
	Key     echo.Key `json:"key"`
}

// IsReady reports whether a run that resumes gets past the wait: by an answer, or as its deadline has passed.
func (w *Wait) IsReady(now time.Time) bool {
	return w.Answer != nil || w.Deadline != nil && !now.Before(*w.Deadline)
}

// For says in words what is awaited.
func (w *Wait) For() string {
	return effect.Awaited(&echo.Wait{Kind: w.Kind, Call: w.Call, Signal: w.Signal})
}

// Claimant is who takes a signal: a wait.
func Claimant(session string, key echo.Key) string { return session + " " + key.String() }

// HasSignal reports whether a wait for a signal gets one when its run resumes.
func (d Desk) HasSignal(w *Wait) (bool, error) {
	var deadline time.Time
	if w.Deadline != nil {
		deadline = *w.Deadline
	}
	for _, box := range []mailbox.Box{Box(d.Home, w.Session), HomeBox(d.Home)} {
		if has, err := box.Has(w.Signal, Claimant(w.Session, w.Key), deadline); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// Desk has the waits of one home.
type Desk struct {
	Home string
	Now  func() time.Time // nil: the system's clock
}

func (d Desk) now() time.Time {
	if d.Now == nil {
		return time.Now().UTC()
	}
	return d.Now().UTC()
}

// Box returns the mailbox of a session.
func Box(home, session string) mailbox.Box {
	return mailbox.Box{Dir: filepath.Join(config.SessionDir(home, session), "mailbox")}
}

// HomeBox returns the mailbox of signals that are for whichever session waits first.
func HomeBox(home string) mailbox.Box { return mailbox.Box{Dir: config.MailboxDir(home)} }

// List returns what sessions wait for, the oldest first: those of one session and its children, or of all
// for "". Sessions that cannot be read are left out.
func (d Desk) List(ctx context.Context, session string) ([]*Wait, error) {
	all, err := sessions.All(config.SessionsDir(d.Home))
	if err != nil {
		return nil, failure.New(failure.StorageFailed, fmt.Errorf("list sessions: %w", err), "")
	}
	var out []*Wait
	for _, s := range all {
		if s.Err != nil || s.End.Whole && s.End.Status != echo.StatusWaiting || session != "" && s.ID != session && s.Header.Root != session {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rec, err := journal.Read(filepath.Join(s.Dir, journal.File))
		if err != nil {
			continue
		}
		found, err := d.open(rec)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	slices.SortFunc(out, func(a, b *Wait) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

// open returns the open waits of one session.
func (d Desk) open(rec *journal.Recording) ([]*Wait, error) {
	h := rec.Header
	var out []*Wait
	for _, e := range record.OpenWaits(rec.Entries) {
		w, err := echo.Read[echo.Wait](e)
		if err != nil {
			return nil, failure.New(failure.Damaged, fmt.Errorf("session %s: %w", h.SessionID, err), "")
		}
		x := &Wait{
			ID:    echo.WaitID(h.SessionID, e.Key),
			Place: Place{Session: h.SessionID, Root: cmp.Or(h.Root, h.SessionID), Cascade: e.CascadeID, Phase: e.Phase, Key: e.Key},
			Kind:  w.Kind, Asked: asked(&w), Form: w.Form, Call: w.Call, Shown: w.Shown, Signal: w.Signal, Since: e.At, CostUSD: costOf(rec.Entries),
		}
		if at := w.Deadline(e.At); !at.IsZero() {
			x.Deadline = &at
		}
		if x.Answer, err = Box(d.Home, h.SessionID).Answered(x.ID); err != nil {
			return nil, failure.New(failure.Damaged, err, "")
		}
		out = append(out, x)
	}
	return out, nil
}

func asked(w *echo.Wait) string {
	switch {
	case w.Call != nil:
		return w.Call.Tool + " " + string(w.Call.Arguments)
	case w.Form != nil:
		return w.Form.Question
	}
	return strings.TrimSpace(fmt.Sprintf("signal %q %s", w.Signal, w.By.Note))
}

func costOf(entries []*echo.Entry) *float64 {
	var t record.Tally
	for _, e := range entries {
		t.Add(e)
	}
	totals := t.Sums().Totals
	if totals.UnknownCosts > 0 {
		return nil
	}
	return &totals.CostUSD
}

// UnknownError says that an id, or the beginning of one, stands for no open wait, or for several.
type UnknownError struct {
	Given string
	IDs   []string // that begin so; none: there is no such wait
}

func (e *UnknownError) Error() string {
	if len(e.IDs) == 0 {
		return fmt.Sprintf("there is no open wait %q", e.Given)
	}
	return fmt.Sprintf("%q is the beginning of %d waits: %s", e.Given, len(e.IDs), strings.Join(e.IDs, ", "))
}

// Find returns the open wait with an id, or with the only one that begins so.
func (d Desk) Find(ctx context.Context, id string) (*Wait, error) {
	all, err := d.List(ctx, "")
	if err != nil {
		return nil, err
	}
	var found []*Wait
	for _, w := range all {
		switch {
		case w.ID == id:
			return w, nil
		case id != "" && strings.HasPrefix(w.ID, id):
			found = append(found, w)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	unknown := &UnknownError{Given: id}
	for _, w := range found {
		unknown.IDs = append(unknown.IDs, w.ID)
	}
	if len(found) == 0 {
		if err := d.settled(id); err != nil {
			return nil, err
		}
	}
	return nil, failure.New(failure.UnknownWait, unknown, "")
}

// settled returns an error that says who answered a wait which is not open any more; nil when it has no answer here.
func (d Desk) settled(id string) error {
	if !echo.IsWaitID(id) {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(config.SessionsDir(d.Home), "*", "mailbox"))
	if err != nil {
		return stored(err)
	}
	for _, dir := range files {
		a, err := mailbox.Box{Dir: dir}.Answered(id)
		if err != nil {
			return failure.New(failure.Damaged, err, "")
		}
		if a != nil {
			return failure.New(failure.AlreadyAnswered, &mailbox.TakenError{Letter: mailbox.Letter{Wait: id, Answer: *a}}, "")
		}
	}
	return nil
}

// Given is an answer as a person or a program gives it.
type Given struct {
	Value any       // that came from JSON
	Shown echo.Hash // of an approval: what was shown; "": what the wait shows now
	By    string
	Via   echo.Via
}

// Answer leaves the answer to a wait. The error has the kind InvalidInput when the value does not answer it,
// and AlreadyAnswered when somebody was faster, with a [*mailbox.TakenError].
func (d Desk) Answer(w *Wait, g Given) error {
	at := d.now()
	switch {
	case w.Kind == echo.WaitSignal:
		return failure.New(failure.InvalidRequest, fmt.Errorf("the wait %s is for the signal %q and is not answered", w.ID, w.Signal), "windlass signal "+w.Signal)
	case w.Deadline != nil && !at.Before(*w.Deadline):
		return failure.New(failure.AlreadyAnswered, fmt.Errorf("the wait %s ended without an answer at %s", w.ID, w.Deadline.Local().Format("2006-01-02 15:04:05")), "")
	case g.Shown != "" && g.Shown != w.Shown:
		return failure.New(failure.AlreadyAnswered, fmt.Errorf("the wait %s shows something else by now: it was answered for %q, and shows %q", w.ID, g.Shown, w.Shown), "look at it again")
	}
	value, err := Check(w, g.Value)
	if err != nil {
		return failure.New(failure.InvalidInput, fmt.Errorf("the answer to wait %s is not taken: %w", w.ID, err), "")
	}
	err = Box(d.Home, w.Session).Answer(w.ID, echo.Answer{Value: value, By: g.By, Via: g.Via, At: at, Shown: w.Shown})
	if errors.As(err, new(*mailbox.TakenError)) {
		return failure.New(failure.AlreadyAnswered, err, "")
	}
	return stored(err)
}

// Check returns a value that answers a wait, as it is recorded. The error says why it does not.
func Check(w *Wait, value any) (any, error) {
	if w.Kind != echo.WaitApproval {
		return waiting.Check(w.Form, value)
	}
	d, err := waiting.Decide(value, func(args json.RawMessage) (string, error) {
		s, err := schema.Compile(w.Call.Schema)
		if err != nil {
			return "", fmt.Errorf("read the schema of tool %s: %w", w.Call.Tool, err)
		}
		violations, err := s.Validate(args)
		if err != nil || len(violations) == 0 {
			return "", err
		}
		lines := make([]string, len(violations))
		for i, v := range violations {
			lines[i] = v.String()
		}
		return "the arguments do not match the schema of " + w.Call.Tool + ": " + strings.Join(lines, "; "), nil
	})
	if err != nil {
		return nil, err
	}
	return d.Value(), nil
}

// MaxSignal is how long the name of a signal may be, in bytes.
const MaxSignal = 200

// Signal leaves a signal for a session of this machine, by its whole id, or for whichever waits for it first where that
// is "". One with the same letter is left once.
func (d Desk) Signal(session, name string, a echo.Answer) error {
	switch {
	case name != "" && strings.TrimSpace(name) == "":
		return failure.New(failure.InvalidRequest, errors.New("the name of a signal is empty"), "")
	case name == "" || len(name) > MaxSignal:
		return failure.New(failure.InvalidRequest, fmt.Errorf("the name of a signal has 1 to %d bytes, not %d", MaxSignal, len(name)), "")
	case session == "":
		return stored(HomeBox(d.Home).Send(name, a))
	case !journal.IsSessionID(session):
		return failure.New(failure.UnknownSession, fmt.Errorf("%q is no id of a session", session), "")
	}
	if _, err := os.Stat(filepath.Join(config.SessionDir(d.Home, session), journal.File)); err != nil {
		return failure.New(failure.UnknownSession, fmt.Errorf("there is no session %s on this machine", session), "")
	}
	return stored(Box(d.Home, session).Send(name, a))
}

func stored(err error) error {
	if err == nil {
		return nil
	}
	return failure.New(failure.StorageFailed, err, "")
}
