package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
)

// File is the name of the journal in a session's folder.
const File = "journal.jsonl"

// Header is the first line of a journal: what a run is a function of, apart from outcomes of
// effects.
type Header struct {
	Version   int             `json:"windlass_journal"`
	Rules     int             `json:"rules"` // of the engine that the session was begun under, from 1; see engine.Rules
	SessionID string          `json:"session_id"`
	StartedAt time.Time       `json:"started_at"`
	ChildOf   string          `json:"child_of,omitempty"` // of a child: the session that has begun it, see ChildKey
	Windlass  string          `json:"windlass"`           // the version of windlass
	File      string          `json:"file"`               // the cascade file as it was named
	Cascade   json.RawMessage `json:"cascade"`            // the whole cascade, as it was understood
	Script    string          `json:"script,omitempty"`   // the script that answered instead of a model
	Input     json.RawMessage `json:"input"`
	Options   json.RawMessage `json:"options,omitempty"` // in the form of the program that began it

	// Of a fork: the id of the parent, and the number of the last entry that it has of it.
	Parent    string `json:"parent,omitempty"`
	ParentSeq uint64 `json:"parent_seq,omitempty"`

	// Library has the cascades that this one reaches by name, as they were when the session began; in the
	// form of the program that began it.
	Library json.RawMessage `json:"library,omitempty"`

	// Of a child: the key under which it was begun, the first of all its ancestors, and how far it is
	// below that.
	ChildKey echo.Key `json:"child_key,omitzero"`
	Root     string   `json:"root,omitempty"`
	Depth    int      `json:"depth,omitempty"`

	// Redactions are the messages that were redacted since, in that order.
	Redactions []Redaction `json:"redactions,omitempty"`
}

// Redaction is a message whose content was taken out of a journal after it was recorded.
type Redaction struct {
	Hash       echo.Hash `json:"hash"`
	Role       echo.Role `json:"role"`
	Kind       echo.Kind `json:"kind,omitempty"`
	Tokens     int64     `json:"tokens"` // as it was, as are the next two
	Bytes      int       `json:"bytes"`
	Characters int       `json:"characters"`
	At         time.Time `json:"at"` // when it was redacted
	Reason     string    `json:"reason,omitempty"`

	Entries []uint64 `json:"entries,omitempty"` // numbers of those that changed: a number that was taken out leaves no mark
	Numbers int      `json:"numbers,omitempty"` // how many numbers were, each of which is 0 now
}

// Redacted returns the hashes of the messages that were redacted.
func (h *Header) Redacted() []echo.Hash {
	var hashes []echo.Hash
	for _, r := range h.Redactions {
		hashes = append(hashes, r.Hash)
	}
	return hashes
}

var (
	// ErrNotBegun is what is wrong with a journal without a whole header: there is no session, and
	// so nothing to restore.
	ErrNotBegun = errors.New("no header: its process died before the session had begun")

	errNotHeader = errors.New("the line is no header of a journal")
	errNoRules   = errors.New(`the header has no "rules" from 1 on`)
)

func (h *Header) check() error {
	if h.Rules < 1 {
		return errNoRules
	}
	if !IsSessionID(h.SessionID) {
		return fmt.Errorf("the header says session %.80q, which cannot be the id of a session", h.SessionID)
	}
	for _, r := range h.Redactions {
		if !echo.IsHash(r.Hash) {
			return fmt.Errorf("the header says that %.80q is redacted, which cannot be the hash of a message", r.Hash)
		}
	}
	return nil
}

// HeaderOf returns the header of a session's journal as the start of the run has it.
func HeaderOf(start *echo.Entry) (h Header, err error) {
	d, err := echo.Read[echo.RunStart](start)
	if err != nil {
		return h, err
	}
	if err = json.Unmarshal(d.Header, &h); err == nil {
		err = h.check()
	}
	if err != nil {
		return Header{}, fmt.Errorf("read the header in entry %d (%s): %w", start.Seq, start.Key, err)
	}
	return h, nil
}

// decodeHeader reads the first line of the journal at path, with its newline, and returns the
// line's sum with it. The journal must be of the session that folder names, unless that is empty.
// The error is a [*VersionError] when the line is of another version.
func decodeHeader(path, folder string, line []byte) (h Header, sum chain.Sum, err error) {
	if err := checkVersion(path, line); err != nil {
		return h, sum, err
	}
	if sum, err = sum.Check(line); err != nil {
		return h, sum, err
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, sum, err
	}
	if err := h.check(); err != nil {
		return h, sum, err
	}
	return h, sum, checkFolder(folder, &h)
}
