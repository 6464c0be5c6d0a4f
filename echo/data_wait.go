package echo

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// Wait says that a run waits: for what a person answers, or for a signal. The wait begins when the entry
// was recorded. Its answer is an [Answer] under the same key.
type Wait struct {
	Kind    WaitKind     `json:"kind"`
	Form    *Form        `json:"form,omitempty"`            // what a person is asked; nil: a signal is awaited
	Call    *AwaitedCall `json:"call,omitempty"`            // of an approval: what runs when it is allowed
	Signal  string       `json:"signal,omitempty"`          // the name of the one that is awaited
	Any     []string     `json:"any,omitempty"`             // the names of signals, the first of which ends the wait, as an answer to its form does
	Shown   Hash         `json:"shown,omitempty"`           // of an approval: of exactly what a person is shown, see [AwaitedCall.Hash]
	Timeout float64      `json:"timeout_seconds,omitempty"` // after which the wait ends without an answer; 0: never
	Expiry  OnTimeout    `json:"on_timeout,omitempty"`      // what follows then
	Default any          `json:"default,omitempty"`         // the value that is taken then; a value that came from JSON
	By      AwaitedBy    `json:"by"`
}

// WaitKind says what a run waits for.
type WaitKind string

// The kinds of waits.
const (
	WaitQuestion WaitKind = "question" // a model asks, with a tool
	WaitInput    WaitKind = "input"    // the phase asks, by human_input
	WaitApproval WaitKind = "approval" // a call of a tool is to be allowed
	WaitDecision WaitKind = "decision" // the output of a phase asks, by decision_points
	WaitChoice   WaitKind = "choice"   // a person is to choose among candidates
	WaitSignal   WaitKind = "signal"
	WaitAny      WaitKind = "any" // one of several signals, or an answer to the form
)

// AwaitedBy says what asks.
type AwaitedBy struct {
	Tool string `json:"tool,omitempty"` // the tool by which it does
	Note string `json:"note,omitempty"` // what is said of it, such as the description of a signal
}

// AwaitedCall is a call of a tool that waits for approval.
type AwaitedCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"` // canonical JSON, without secrets
	Cascade   string          `json:"cascade"`   // the hash of the cascade: 16 hexadecimal digits of the SHA-256 of its JSON
	Schema    json.RawMessage `json:"schema"`    // JSON Schema of the arguments, which an edit has to match; not in the hash
}

// Hash returns the hash of a call: of its tool, its arguments and its cascade. Any difference in them
// is another hash.
func (c *AwaitedCall) Hash() Hash {
	text := AppendString([]byte("{"), "arguments")
	text = appendMember(append(append(text, ':'), c.Arguments...), "cascade")
	text = appendMember(AppendString(text, c.Cascade), "tool")
	return shortHash(sha256.Sum256(append(AppendString(text, c.Tool), '}')))
}

// OnTimeout says what follows when a wait ends without an answer.
type OnTimeout string

// What can follow.
const (
	TimeoutContinue OnTimeout = "continue" // the run goes on without an answer
	TimeoutFail     OnTimeout = "fail"     // the phase fails
	TimeoutDefault  OnTimeout = "default"  // the default is the answer

	TimeoutModel OnTimeout = "llm_fallback" // of a choice: models choose
	TimeoutFirst OnTimeout = "first"        // of a choice: the first candidate is kept
)

// Form is what a person is asked.
type Form struct {
	Kind     FormKind `json:"kind"`
	Question string   `json:"question"`
	Context  string   `json:"context,omitempty"` // what a person should know to answer
	Severity string   `json:"severity,omitempty"`
	Options  []Option `json:"options,omitempty"`      // of a choice
	Custom   bool     `json:"allow_custom,omitempty"` // a text of one's own answers a choice, too
	Most     int      `json:"most,omitempty"`         // of a rating: the highest, from 1
	Fields   []Field  `json:"fields,omitempty"`       // of a form
	Data     any      `json:"data,omitempty"`         // what a person should see to answer; a value that came from JSON
	HTML     string   `json:"html,omitempty"`         // of a model: only a frame without rights may show it
	Images   []Image  `json:"images,omitempty"`       // that a person sees with the question
	Choose   *Choose  `json:"choose,omitempty"`       // of candidates

	Feedback bool     `json:"feedback,omitempty"` // of a choice: words go with an option, as {"choice": id, "feedback": "..."}
	Actions  []string `json:"actions,omitempty"`  // of a decision: what follows from each option: a phase, _continue, _retry or _abort
}

// Image is an image that a person sees with a question. Its bytes are in the message of the entry with [ImagesKey],
// where the n-th image is the n-th of the form.
type Image struct {
	Name   string `json:"name"` // the path by which the question names it, which is hostile
	Type   string `json:"type"` // image/png, image/jpeg, image/gif or image/webp, by its first bytes
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`          // of its bytes, in hexadecimal
	Width  int    `json:"width,omitempty"` // in pixels; 0: its header does not say
	Height int    `json:"height,omitempty"`
}

// ImagesKey returns the key of the entry with the images that the question of a wait shows.
func ImagesKey(wait Key) Key { return wait.Parent().Step(StepImages) }

// Choose is a choice among candidates.
type Choose struct {
	Candidates []Offered  `json:"candidates"`
	Mode       ChooseMode `json:"mode"`
	Present    string     `json:"presentation,omitempty"` // how a page shows them: side_by_side, tabbed or diff
	Tie        bool       `json:"allow_tie,omitempty"`
	Reject     bool       `json:"allow_reject_all,omitempty"`
	Reason     bool       `json:"require_reasoning,omitempty"`
}

// ChooseMode says how a person chooses.
type ChooseMode string

// The modes of a choice.
const (
	ChooseOne  ChooseMode = "pick_one"  // {"winner": label, "tie" or "none", "why": "..."}
	ChooseRank ChooseMode = "rank_all"  // {"ranking": [labels, the best first], "why": "..."}
	ChooseRate ChooseMode = "rate_each" // {"ratings": {label: 1 to 5}, "why": "..."}
)

// Offered is a candidate that a person can choose.
type Offered struct {
	Label string `json:"label"` // which tells nothing of how it came about: A, B, ...
	Text  string `json:"text"`
	Note  string `json:"note,omitempty"` // its model, cost or mutation, where the cascade shows them
}

// FormKind says what answers a form, in the values of JSON.
type FormKind string

// The kinds of forms.
const (
	FormConfirmation FormKind = "confirmation" // true or false
	FormChoice       FormKind = "choice"       // the id of an option
	FormMultiChoice  FormKind = "multi_choice" // a list of ids
	FormRating       FormKind = "rating"       // a whole number from 1
	FormText         FormKind = "text"         // a text
	FormFields       FormKind = "form"         // an object with a value for each field
	FormReview       FormKind = "review"       // {"approved": true or false, "feedback": "..."}
	FormApproval     FormKind = "approval"     // {"decision": "allow", "deny" or "edit", ...}
	FormCandidates   FormKind = "candidates"   // see [ChooseMode]
)

// Option is one of those that a person chooses from. In JSON it may be its id alone.
type Option struct {
	ID          string `json:"id"`
	Label       string `json:"label,omitempty"`
	Description string `json:"description,omitempty"`
	Style       string `json:"style,omitempty"`
}

// UnmarshalJSON reads an id, or an object.
func (o *Option) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &o.ID)
	}
	type plain Option
	return json.Unmarshal(text, (*plain)(o))
}

// Field is a part of a form.
type Field struct {
	Name     string   `json:"name"`
	Label    string   `json:"label,omitempty"`
	Kind     FormKind `json:"kind"` // confirmation, choice, multi_choice, rating or text
	Options  []Option `json:"options,omitempty"`
	Most     int      `json:"most,omitempty"`
	Required bool     `json:"required,omitempty"`
}

// Answer is how a wait ended.
type Answer struct {
	Value    any       `json:"value,omitempty"` // a value that came from JSON: what a person said, or the data of a signal
	TimedOut bool      `json:"timed_out,omitempty"`
	By       string    `json:"by,omitempty"` // who: a user of the system, the name of a token, the session of a signal
	Via      Via       `json:"via,omitempty"`
	At       time.Time `json:"at"`               // when it was given; of one that timed out, the deadline
	Letter   string    `json:"letter,omitempty"` // the id of the signal
	Signal   string    `json:"signal,omitempty"` // which of several signals it is
	Grant    *Granted  `json:"grant,omitempty"`  // of an approval: for what else it counts, or which grant has allowed the call
	Shown    Hash      `json:"shown,omitempty"`  // of an approval: of what the person was shown, see [Wait.Shown]
}

// Granted says that an approval counts for more than its call, or that an earlier one did.
type Granted struct {
	Scope GrantScope `json:"scope"`
	ID    string     `json:"id,omitempty"` // the wait whose answer is the grant that was used; "": this answer is one
}

// GrantScope says what an approval counts for: calls of the same tool, with any arguments that can be read, of the
// same cascade by its hash.
type GrantScope string

// The scopes of approvals. One for its call alone has no [Granted].
const (
	GrantSession GrantScope = "session" // in the same session
	GrantCascade GrantScope = "cascade" // in every session
)

// Via says how an answer came.
type Via string

// The ways of answers.
const (
	ViaTerminal Via = "terminal" // where the run is
	ViaCommand  Via = "command"  // windlass answer, windlass signal
	ViaHTTP     Via = "http"
	ViaPage     Via = "page"    // of windlass serve, in a browser
	ViaProgram  Via = "program" // that has windlass as a library
	ViaTool     Via = "tool"    // fire_signal of a run
	ViaClock    Via = "clock"
	ViaGrant    Via = "grant" // an earlier approval that counts for this call
)

// Fired is a signal that a run has sent.
type Fired struct {
	Letter  string `json:"letter"` // its id, see [LetterOf]
	Signal  string `json:"signal"`
	Session string `json:"session,omitempty"` // that is to get it; "": whichever waits first
	Payload any    `json:"payload,omitempty"`
	Problem string `json:"problem,omitempty"` // why it was not sent
}

// LetterOf returns the id of a signal that a run sends, which follows from its session and the key: it is the same
// signal however often that is done.
func LetterOf(session string, key Key) string { return ChildSession(session, key) }

// WaitID returns the id of a wait, by which it is answered: it follows from the session and the key.
func WaitID(session string, key Key) string { return idOf("wait", session, key) }

// idOf returns an id that follows from what it is of, a session and a key.
func idOf(what, session string, key Key) string {
	sum := sha256.Sum256([]byte(what + "\n" + session + "\n" + key.String()))
	return crockford.EncodeToString(sum[:])[:waitIDLength]
}

// waitIDLength is the length of the id of a wait, in characters of Crockford's base32.
const waitIDLength = 10

// IsWaitID reports whether a text can be the id of a wait.
func IsWaitID(s string) bool {
	return len(s) == waitIDLength && strings.Trim(s, "0123456789abcdefghjkmnpqrstvwxyz") == ""
}

// Deadline returns when a wait ends that was recorded at a time; zero: never.
func (d *Wait) Deadline(since time.Time) time.Time {
	if d.Timeout <= 0 {
		return time.Time{}
	}
	return since.Add(time.Duration(d.Timeout * float64(time.Second)))
}

func (Wait) kind() kind   { return kind{node: NodeWait} }
func (Answer) kind() kind { return kind{node: NodeAnswer} }
func (Fired) kind() kind  { return kind{NodeValue, StepFire} }

func (d *Answer) check() error {
	if d.At.IsZero() {
		return errors.New("it has no time")
	}
	return nil
}
