package echo

import (
	"errors"
	"time"
)

// MemosStart is which memos a run sees from its start on.
type MemosStart struct {
	Project string `json:"project"` // the project folder: 16 hexadecimal digits of the hash of its path
	At      uint64 `json:"at"`      // the number of the newest entry of the project's memos
	Global  uint64 `json:"global"`  // of the global ones
	Memos   int    `json:"memos"`   // how many there are, of both
}

// MemoCall is what a call of a tool of memos came to. Its key is below that of the call.
type MemoCall struct {
	Project  string        `json:"project"` // as in [MemosStart]
	Tool     string        `json:"tool"`
	Text     string        `json:"text"` // what the model is told
	Failed   bool          `json:"failed,omitempty"`
	Conflict bool          `json:"conflict,omitempty"` // somebody else had changed the memo since the run saw it
	Read     []MemoVersion `json:"read,omitempty"`     // whose text the model is told
	Wrote    []MemoVersion `json:"wrote,omitempty"`
	Seen     []MemoSeen    `json:"seen,omitempty"` // what the run sees from here on besides what it saw at its start
}

// MemoVersion is one state of a memo.
type MemoVersion struct {
	Scope   string   `json:"scope"`   // project or global
	Memo    string   `json:"memo"`    // its id
	Version string   `json:"version"` // the id of the state
	Hash    Hash     `json:"hash,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	Gone    bool     `json:"gone,omitempty"` // the memo was deleted
}

// MemoSeen is an entry of memos that a run sees besides those of its start.
type MemoSeen struct {
	Scope string `json:"scope"`
	At    uint64 `json:"at"` // the number of the entry
}

// MemosBrought is which memos the newest message of a person or a phase has brought to its turn, and those after it. A
// message that says nothing by itself leaves those of the message before.
type MemosBrought struct {
	Project string        `json:"project"`
	Kept    bool          `json:"kept,omitempty"` // they are those of the message before
	Memos   []BroughtMemo `json:"memos,omitempty"`
	Problem string        `json:"problem,omitempty"` // why the memos could not be read
}

// BroughtMemo is one memo as it was brought.
type BroughtMemo struct {
	MemoVersion
	Text    string    `json:"text"`
	At      time.Time `json:"at"`                // when it was saved
	Session string    `json:"session,omitempty"` // by which session; "": by a person
}

func (MemosStart) kind() kind   { return kind{NodeValue, StepMemos} }
func (MemoCall) kind() kind     { return kind{NodeValue, StepMemo} }
func (MemosBrought) kind() kind { return kind{NodeValue, StepBrought} }

func (c *MemoCall) check() error {
	if c.Tool == "" {
		return errors.New("it names no tool")
	}
	return nil
}
