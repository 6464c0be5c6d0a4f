// Package delivery records, in a session's folder, how much of the session each ClickHouse has.
package delivery

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/wholefile"
)

// MarksFile is the name of the file, in a session's folder, that holds the [Marks].
const MarksFile = "shipped.json"

// maxMarks bounds the file, which has about 200 bytes for each database.
const maxMarks = 1 << 20

// Marks say up to which entry a session was delivered, for each ClickHouse that it was delivered
// to. A mark is written after ClickHouse has taken everything up to it, so it may lag behind and
// never leads; what is above it is delivered, perhaps for a second time, which changes nothing. A
// file that is lost or unreadable, or something else in its place, means that nothing was
// delivered; the next mark replaces it.
type Marks struct {
	// KeepHere says that the session is only delivered when it is asked for by name.
	KeepHere bool   `json:"keep_here,omitempty"`
	Shipped  []Mark `json:"shipped,omitempty"`
}

// Mark is the newest entry up to which one database has everything.
type Mark struct {
	To       string    `json:"to"`       // the address of the database; see clickhouse.Options
	Database string    `json:"database"` // its own id: one that was rebuilt has nothing
	Seq      uint64    `json:"seq"`
	EntryAt  time.Time `json:"entry_at"` // when that entry was recorded: a journal that was cut and went on has another

	// Before says that the database may have rows of before a message of the session was redacted. They
	// are removed before it is delivered anew.
	Before bool `json:"before_redaction,omitempty"`
}

// ReadMarks returns the marks of a session's folder.
func ReadMarks(dir string) Marks {
	var m Marks
	b, err := source.ReadFile(filepath.Join(dir, MarksFile), maxMarks)
	if err != nil || json.Unmarshal(b, &m) != nil {
		return Marks{}
	}
	return m
}

// Of returns the mark for an address; the zero value when nothing was delivered there.
func (m Marks) Of(to string) Mark {
	for _, k := range m.Shipped {
		if k.To == to {
			return k
		}
	}
	return Mark{To: to}
}

// SetMark records a mark in a session's folder, in place of the one for the same address.
func SetMark(dir string, mark Mark) error {
	return changeMarks(dir, func(m *Marks) {
		m.Shipped = slices.DeleteFunc(m.Shipped, func(k Mark) bool { return k.To == mark.To })
		m.Shipped = append(m.Shipped, mark)
	})
}

// KeepHere records that a session is not to be delivered by itself.
func KeepHere(dir string, keep bool) error {
	if ReadMarks(dir).KeepHere == keep {
		return nil
	}
	return changeMarks(dir, func(m *Marks) { m.KeepHere = keep })
}

// changeMarks writes the file anew, unsynced: at worst more is delivered again.
func changeMarks(dir string, change func(*Marks)) error {
	m := ReadMarks(dir)
	change(&m)
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("note what was delivered: %w", err)
	}
	if err := wholefile.Write(filepath.Join(dir, MarksFile), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("note what was delivered: %w", err)
	}
	return nil
}
