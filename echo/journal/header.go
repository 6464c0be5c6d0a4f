package journal

import (
	"encoding/json"
	"time"
)

// Version is the format of the journals that this package writes, and the newest one it reads.
//
// Every line of version 2 ends with a member "sum": the first 16 hexadecimal digits of SHA-256 over the sum of the line
// before it and the line itself without that member. So a change of any byte is found, and so is a line that was left out,
// added or moved. Journals of version 1 have no sums.
const Version = 2

// File is the name of the journal in a session's folder.
const File = "journal.jsonl"

// Header is the first line of a journal: all that a run is a function of, apart from the outcomes of its effects.
type Header struct {
	Version   int             `json:"windlass_journal"`
	SessionID string          `json:"session_id"`
	StartedAt time.Time       `json:"started_at"`
	Windlass  string          `json:"windlass"`         // the version of windlass
	File      string          `json:"file"`             // the cascade file as it was named
	Cascade   json.RawMessage `json:"cascade"`          // the whole cascade, as it was understood
	Script    string          `json:"script,omitempty"` // the script that answered instead of a model
	Input     json.RawMessage `json:"input"`
	Options   json.RawMessage `json:"options,omitempty"` // what else the run was begun with, in the form of whoever began it

	// Of a session that was forked from another: its id, and the number of the last entry that it has of it.
	Parent    string `json:"parent,omitempty"`
	ParentSeq uint64 `json:"parent_seq,omitempty"`
}
