// Package waits says what the sessions of this machine wait for, and leaves what people and programs
// answer in their mailboxes.
package waits

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/schema"
)

// Wait is a wait that has no answer in the record of its session.
type Wait struct {
	ID string `json:"id"`
	Place
	Kind     echo.WaitKind     `json:"kind"`
	Asked    string            `json:"asked"` // in words, one line or more
	Form     *echo.Form        `json:"form,omitempty"`
	Output   string            `json:"output,omitempty"` // of a decision: what it is on, which the record has elsewhere
	Call     *echo.AwaitedCall `json:"call,omitempty"`
	Shown    echo.Hash         `json:"shown,omitempty"` // what an answer to an approval has to name
	Signal   string            `json:"signal,omitempty"`
	Any      []string          `json:"any,omitempty"` // the names of signals, the first of which ends it
	Since    time.Time         `json:"since"`
	Deadline *time.Time        `json:"deadline,omitempty"`
	CostUSD  *float64          `json:"cost_usd"`          // of the session so far; nil: not known
	Answer   *echo.Answer      `json:"answer,omitempty"`  // that was left and not taken yet
	Granted  *mailbox.Grant    `json:"granted,omitempty"` // an earlier approval that counts for it
}

// Place is where a wait is.
type Place struct {
	Session string   `json:"session"`
	Root    string   `json:"root"` // the session to resume: the one above all others
	Cascade string   `json:"cascade"`
	Phase   string   `json:"phase"`
	Key     echo.Key `json:"key"`
}

// IsReady reports whether a run that resumes gets past the wait: by an answer, by a grant, or as its deadline has
// passed.
func (w *Wait) IsReady(now time.Time) bool {
	return w.Answer != nil || w.Granted != nil || w.Deadline != nil && !now.Before(*w.Deadline)
}

// For says in words what is awaited.
func (w *Wait) For() string {
	return effect.Awaited(&echo.Wait{Kind: w.Kind, Call: w.Call, Signal: w.Signal, Any: w.Any, Form: w.Form})
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
		for _, name := range w.Signals() {
			if has, err := box.Has(name, Claimant(w.Session, w.Key), deadline); has || err != nil {
				return has, err
			}
		}
	}
	return false, nil
}

// Signals returns the names of the signals that end a wait.
func Signals(w *echo.Wait) []string {
	if w.Kind == echo.WaitSignal {
		return []string{w.Signal}
	}
	return w.Any
}

// Signals returns the names of the signals that end the wait.
func (w *Wait) Signals() []string {
	return Signals(&echo.Wait{Kind: w.Kind, Signal: w.Signal, Any: w.Any})
}

// IsAnswered reports whether a person can answer the wait: else it is for signals alone.
func (w *Wait) IsAnswered() bool { return w.Form != nil || w.Call != nil }

// Desk has the waits of one home.
type Desk struct {
	Home    string
	Now     func() time.Time // nil: the system's clock
	Secrets effect.Mask      // that no edit of a call may have unless the call has them; nil: none are known
}

// Clock returns the time as the desk has it.
func (d Desk) Clock() time.Time {
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
// for "". What cannot be read is left out: [Desk.Survey] says what that is.
func (d Desk) List(ctx context.Context, session string) ([]*Wait, error) {
	s, err := d.Survey(ctx, session)
	if err != nil {
		return nil, err
	}
	return s.Open, nil
}

// Has returns an error for a session that is not on this machine; "" stands for all.
func (d Desk) Has(session string) error {
	if session == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(config.SessionDir(d.Home, session), journal.File)); err != nil {
		return unknownSession(session)
	}
	return nil
}

// open returns the open waits of one session, and what of its letters cannot be read.
func (d Desk) open(rec *journal.Recording) (out []*Wait, damaged []error) {
	h := rec.Header
	for _, e := range record.OpenWaits(rec.Entries) {
		w, err := echo.Read[echo.Wait](e)
		if err != nil {
			damaged = append(damaged, fmt.Errorf("session %s: %w", h.SessionID, err))
			continue
		}
		x := Of(&w, Place{Session: h.SessionID, Root: cmp.Or(h.Root, h.SessionID), Cascade: e.CascadeID, Phase: e.Phase, Key: e.Key}, e.At)
		x.CostUSD, x.Output = costOf(rec.Entries), outputOf(rec.Entries, x)
		x.Answer, _ = Box(d.Home, h.SessionID).Answered(x.ID) // one that cannot be read is among the damaged files
		if x.Answer == nil {
			x.Granted = Granted(d.Home, h.SessionID, &w)
		}
		if x.Answer != nil && x.Answer.TimedOut { // the run has ended it, and died before that was recorded
			x.Answer = nil
		}
		out = append(out, x)
	}
	return out, damaged
}

// Of returns the wait of a place that was recorded at a time.
func Of(w *echo.Wait, p Place, since time.Time) *Wait {
	x := &Wait{
		ID: echo.WaitID(p.Session, p.Key), Place: p,
		Kind: w.Kind, Asked: asked(w), Form: w.Form, Call: w.Call, Shown: w.Shown, Signal: w.Signal, Any: w.Any, Since: since,
	}
	if at := w.Deadline(since); !at.IsZero() {
		x.Deadline = &at
	}
	return x
}

func asked(w *echo.Wait) string {
	switch {
	case w.Call != nil:
		return w.Call.Tool + " " + waiting.VisibleLine(w.Call.Arguments)
	case w.Form != nil:
		return w.Form.Question
	}
	if len(w.Any) > 0 {
		return strings.TrimSpace(effect.Signals(w.Any) + " " + w.By.Note)
	}
	return strings.TrimSpace(fmt.Sprintf("signal %q %s", w.Signal, w.By.Note))
}

// outputOf returns the output of a model that a decision is on, "" for every other wait.
func outputOf(entries []*echo.Entry, w *Wait) string {
	if w.Kind != echo.WaitDecision {
		return ""
	}
	turn := w.Key.Parent()
	for _, e := range slices.Backward(entries) {
		if e.NodeType == echo.NodeModelCall && e.Message != nil && e.Key.Parent() == turn {
			return waiting.Undecided(e.Message.Text())
		}
	}
	return ""
}

// WithOutput adds to a wait of a run that lives what its record has of it.
func (d Desk) WithOutput(w *Wait) error {
	if w.Kind != echo.WaitDecision {
		return nil
	}
	rec, err := journal.Read(filepath.Join(config.SessionDir(d.Home, w.Session), journal.File))
	if err != nil {
		return stored(err)
	}
	w.Output = outputOf(rec.Entries, w)
	return nil
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
		if err := settled(d, id); err != nil {
			return nil, err
		}
	}
	return nil, failure.New(failure.UnknownWait, unknown, "")
}

// settled returns an error that says who answered a wait which is not open any more; nil when it has no answer here.
func settled(d Desk, id string) error {
	if !echo.IsWaitID(id) {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(config.SessionsDir(d.Home), "*", "mailbox"))
	if err != nil {
		return stored(err)
	}
	for _, dir := range files {
		if a, err := (mailbox.Box{Dir: dir}).Answered(id); err == nil && a != nil {
			return failure.New(failure.AlreadyAnswered, &mailbox.TakenError{Letter: mailbox.Letter{Wait: id, Answer: *a}}, "")
		}
	}
	return nil
}

// Given is an answer as a person or a program gives it.
type Given struct {
	Value any             // that came from JSON
	Shown echo.Hash       // of an approval: what was shown; "": what the wait shows now
	Grant echo.GrantScope // of an approval: what else it counts for; "": nothing
	By    string
	Via   echo.Via
}

// ShownError says that an answer to an approval is for something else than what the wait shows.
type ShownError struct {
	ID        string
	Said, Now echo.Hash
}

func (e *ShownError) Error() string {
	return fmt.Sprintf("the wait %s does not show what the answer is for: it shows %q, and the answer says %q", e.ID, e.Now, e.Said)
}

func (d Desk) answer(w *Wait, g Given) error {
	at := d.Clock()
	switch {
	case w.Kind == echo.WaitAny && !w.IsAnswered():
		return failure.New(failure.InvalidRequest, fmt.Errorf("the wait %s is for %s and is not answered", w.ID, effect.Signals(w.Any)), "windlass signal "+w.Any[0])
	case w.Kind == echo.WaitSignal:
		return failure.New(failure.InvalidRequest, fmt.Errorf("the wait %s is for the signal %q and is not answered", w.ID, w.Signal), "windlass signal "+w.Signal)
	case w.Answer == nil && w.Deadline != nil && !at.Before(*w.Deadline): // else the mailbox says who was in time
		return failure.New(failure.AlreadyAnswered, fmt.Errorf("the wait %s ended without an answer at %s", w.ID, w.Deadline.Local().Format("2006-01-02 15:04:05")), "")
	case g.Shown != "" && w.Kind != echo.WaitApproval:
		return failure.New(failure.InvalidAnswer, fmt.Errorf("the wait %s is for %s: only the approval of a call has a hash of what is shown", w.ID, w.For()), "")
	case g.Shown != "" && g.Shown != w.Shown:
		return failure.New(failure.AlreadyAnswered, &ShownError{w.ID, g.Shown, w.Shown}, "windlass answer "+w.ID+", which shows it as it is now")
	}
	value, err := Accept(w, g.Value)
	if err != nil {
		return failure.New(failure.InvalidAnswer, fmt.Errorf("the answer to wait %s is not taken: %w", w.ID, err), "")
	}
	if err := CheckSecrets(d, w, value); err != nil {
		return failure.New(failure.InvalidAnswer, fmt.Errorf("the answer to wait %s is not taken: %w", w.ID, err), "")
	}
	a := echo.Answer{Value: value, By: g.By, Via: g.Via, At: at, Shown: w.Shown}
	if g.Grant != "" {
		a.Grant = &echo.Granted{Scope: g.Grant}
	}
	if err := CheckGrant(w, &a); err != nil {
		return failure.New(failure.InvalidAnswer, fmt.Errorf("the answer to wait %s is not taken: %w", w.ID, err), "")
	}
	err = Box(d.Home, w.Session).Answer(w.ID, a)
	if errors.As(err, new(*mailbox.TakenError)) {
		return failure.New(failure.AlreadyAnswered, err, "")
	}
	if err == nil {
		err = Give(d.Home, w, &a)
	}
	return stored(err)
}

// Check returns a value that answers a wait, as it is recorded. The error says why it does not.
func Check(w *Wait, value any) (any, error) {
	if w.Kind != echo.WaitApproval {
		return waiting.Check(w.Form, value)
	}
	d, err := waiting.Decide(value, func(args json.RawMessage) (string, error) {
		if problem := waiting.CheckMarks(w.Call.Arguments, args); problem != "" {
			return problem, nil
		}
		return violated(w.Call, args)
	})
	if err != nil {
		return nil, err
	}
	return d.Value(), nil
}

// Accept is [Check] of an answer that is given now: an edit has to change something.
func Accept(w *Wait, value any) (any, error) {
	value, err := Check(w, value)
	if err != nil || w.Kind != echo.WaitApproval {
		return value, err
	}
	m, _ := value.(map[string]any)
	edit, _ := m["arguments"].(json.RawMessage)
	if shown, err := waiting.Canonical(w.Call.Arguments); edit != nil && err == nil && string(edit) == string(shown) {
		return nil, &waiting.FormError{Why: "the arguments are the ones that were shown: allow the call, or change something"}
	}
	return value, nil
}

// CheckSecrets returns why an edit is not taken for the secrets in it: its call has them, or the record could not tell what runs.
func CheckSecrets(d Desk, w *Wait, value any) error {
	if d.Secrets == nil || w.Call == nil {
		return nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode the answer to wait %s: %w", w.ID, err)
	}
	var masked any
	dec := json.NewDecoder(bytes.NewReader(d.Secrets.JSON(raw)))
	dec.UseNumber()
	if err := dec.Decode(&masked); err != nil {
		return fmt.Errorf("read the answer to wait %s without secrets: %w", w.ID, err)
	}
	if _, err = Check(w, masked); err != nil {
		return fmt.Errorf("it has the value of a known secret: %w", err)
	}
	return nil
}

// violated says why arguments do not match the schema of a call, "" when they do. What a text is that has the mark of a
// secret is known only where it runs.
func violated(call *echo.AwaitedCall, args json.RawMessage) (string, error) {
	s, err := schema.Compile(call.Schema)
	if err != nil {
		return "", fmt.Errorf("read the schema of tool %s: %w", call.Tool, err)
	}
	violations, err := s.Validate(args)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, v := range violations {
		if v.Keyword == "type" || !waiting.HasMark(textAt(args, v.Pointer)) {
			lines = append(lines, v.String())
		}
	}
	if len(lines) == 0 {
		return "", nil
	}
	return "the arguments do not match the schema of " + call.Tool + ": " + strings.Join(lines, "; "), nil
}

// textAt returns the text to which a JSON pointer leads, "" where there is none.
func textAt(args json.RawMessage, pointer string) string {
	var value any
	if json.Unmarshal(args, &value) != nil {
		return ""
	}
	for _, name := range source.SplitPointer(pointer) {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return ""
			}
			value = v[i]
		default:
			return ""
		}
	}
	text, _ := value.(string)
	return text
}

func (d Desk) signal(session, name string, a echo.Answer) error {
	switch n := utf8.RuneCountInString(name); {
	case strings.TrimSpace(name) == "":
		return failure.New(failure.InvalidRequest, errors.New("the name of a signal is empty"), "name the signal that a run waits for: windlass waiting")
	case n > waiting.MaxSignal:
		return failure.New(failure.InvalidRequest, fmt.Errorf("the name of a signal has at most %d characters, not %d", waiting.MaxSignal, n), "shorten it, and put the rest into the data of the signal")
	case session == "":
		return send(HomeBox(d.Home), name, a)
	case !journal.IsSessionID(session):
		return failure.New(failure.UnknownSession, fmt.Errorf("%q is no id of a session", session), "")
	}
	path := filepath.Join(config.SessionDir(d.Home, session), journal.File)
	if _, err := os.Stat(path); err != nil {
		return unknownSession(session)
	}
	box := Box(d.Home, session)
	if a.Via != echo.ViaTool && !mailbox.IsSent(box, a.Letter) { // what is sent twice is sent once, and a run has recorded that it sends it
		if err := checkTakes(path, session); err != nil {
			return err
		}
	}
	return send(box, name, a)
}

// send leaves a signal. The letter of a run follows from its record: what is there already under its id is it.
func send(box mailbox.Box, name string, a echo.Answer) error {
	if a.Via == echo.ViaTool {
		return stored(box.Send(name, a))
	}
	if err := mailbox.CheckLetter(a.Letter); err != nil {
		return failure.New(failure.InvalidRequest, err, mailbox.TryLetter)
	}
	return stored(box.SendOnce(name, a))
}

func unknownSession(id string) error {
	return failure.New(failure.UnknownSession, fmt.Errorf("there is no session %s on this machine", id), "")
}

// checkTakes returns an error for a session that has ended for good, which would never take a signal.
func checkTakes(path, session string) error {
	rec, err := journal.Read(path)
	if err != nil || record.ResumptionOf(rec.Entries).Possible {
		return nil //nolint:nilerr // what cannot be read has no end that is known
	}
	return failure.New(failure.NotResumable,
		fmt.Errorf("session %s has ended (%s) and takes no signal any more", session, record.EndOf(rec.Entries).Status), "leave out the session: the first run that waits for the signal gets it")
}

func stored(err error) error {
	var long *mailbox.TooLongError
	var other *mailbox.OtherLetterError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &other):
		return failure.New(failure.LetterTaken, err, "another letter, or none, for another signal")
	case errors.As(err, &long):
		return failure.New(failure.InvalidRequest, fmt.Errorf("what is sent is too long: %w", long), fmt.Sprintf("send at most %d KiB, such as where the rest is", mailbox.MaxLetter>>10))
	}
	return failure.New(failure.StorageFailed, err, "")
}
