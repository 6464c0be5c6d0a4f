package bank

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/ledger"
)

// The versions of the file of a bank. A file is of the first one that can have what is in it, so that an older windlass reads
// all that it understands, and refuses what it would overlook.
const (
	versionFirst = 1
	versionTexts = 2 // with remembered texts

	versionWithdrawals = 3 // with withdrawals
)

// FormatVersion is the newest version of the file of a bank.
const FormatVersion = versionWithdrawals

// head is the first line.
type head struct {
	Version int       `json:"windlass_bank"`
	Name    string    `json:"name"`
	Folder  string    `json:"folder,omitempty"`
	At      time.Time `json:"at"`
}

// Entry is a line of a bank: one command of a run or a person.
type Entry struct {
	Seq      uint64    `json:"seq"` // from 1, without gaps
	At       time.Time `json:"at"`
	By       Writer    `json:"by"`
	Command  string    `json:"command"`            // of the memory tool; or open, import, edit, forget, withdraw
	Call     echo.Hash `json:"call,omitempty"`     // of the arguments of a call, by which a repeated one is known
	Versions []Version `json:"versions,omitempty"` // what it has written
	Reads    []Read    `json:"reads,omitempty"`    // what it has read

	Texts    []memory.Text `json:"texts,omitempty"`    // that the bank has remembered by itself
	Recalled []echo.Hash   `json:"recalled,omitempty"` // texts that a model was told by a search

	Withdrawn *Withdrawal `json:"withdrawn,omitempty"`
}

// Writer says who has written or read: a call of a run, or a person.
type Writer struct {
	Session string   `json:"session,omitempty"`
	Began   int64    `json:"began,omitempty"` // when the session did, in microseconds of Unix time: an id can be used again once its session is deleted
	Key     echo.Key `json:"key,omitzero"`    // of the call
	Person  string   `json:"person,omitempty"`
}

// Version is one state of one file. Its id follows from all else that it says, so it is the same wherever the bank is.
type Version struct {
	ID      string    `json:"id"`
	Path    string    `json:"path"` // below /memories
	Text    string    `json:"text,omitempty"`
	Hash    echo.Hash `json:"hash,omitempty"` // of the text; it stays when the text is forgotten
	Gone    bool      `json:"gone,omitempty"` // the file was deleted, or has another path now
	From    string    `json:"from,omitempty"` // the path that it had before it was renamed
	Parents []string  `json:"parents,omitempty"`
	// Forgotten says that a person has removed the text from the bank.
	Forgotten bool `json:"forgotten,omitempty"`
	// Origin is who wrote it, and when, where an import brought it.
	Origin *Origin `json:"origin,omitempty"`
}

// Origin is where a version comes from that was written elsewhere.
type Origin struct {
	By      Writer    `json:"by"`
	At      time.Time `json:"at"`
	Command string    `json:"command"`
}

// Read is a version whose text somebody was given.
type Read struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// idOf returns the id of a version that an entry has: 16 hexadecimal digits.
func idOf(v Version, o Origin) (string, error) {
	v.ID, v.Text, v.Forgotten, v.Origin = "", "", false, nil
	text, err := json.Marshal(struct {
		Version
		Origin
	}{v, o})
	if err != nil {
		return "", fmt.Errorf("make the id of a version: %w", err)
	}
	return string(echo.TextHash(text)), nil
}

// origin returns who wrote a version of an entry.
func (e *Entry) origin(v *Version) Origin {
	if v.Origin != nil {
		return *v.Origin
	}
	return Origin{By: e.By, At: e.At, Command: e.Command}
}

// commandView is the command of the memory tool that writes nothing.
const commandView = "view"

// durable reports whether an entry is on the disk before somebody is told of it.
func (e *Entry) durable() bool { return e.Command != commandView }

// check demands that an entry can follow another one.
func (e *Entry) check(seq uint64) error {
	if e.Seq != seq {
		return fmt.Errorf("the entry has number %d in place of %d", e.Seq, seq)
	}
	for i := range e.Versions {
		v := &e.Versions[i]
		if !v.Gone && !v.Forgotten && echo.TextHash([]byte(v.Text)) != v.Hash {
			return fmt.Errorf("the text of %s is not that of its hash", v.Path)
		}
		if id, err := idOf(*v, e.origin(v)); err != nil || id != v.ID {
			return fmt.Errorf("the id of a version of %s does not follow from it", v.Path)
		}
	}
	return e.checkTexts()
}

// parseHead reads the first line of the file of any bank.
func parseHead(path string, line []byte) (h head, sum chain.Sum, err error) {
	sum, err = ledger.Read(line, sum, &h)
	switch {
	case err != nil:
		err = damaged(path, 1, err)
	case h.Version < versionFirst || h.Version > FormatVersion:
		err = failure.New(failure.OtherVersion, fmt.Errorf("bank %s has version %d, this windlass reads versions %d to %d", path, h.Version, versionFirst, FormatVersion),
			"export the bank with the windlass that wrote it, and import it with this one")
	}
	return h, sum, err
}

var errOtherBank = errors.New("it is that of another bank")

// readHead reads the first line. It is that of the bank that the file is named for.
func readHead(path string, ref Ref, line []byte) (chain.Sum, error) {
	h, sum, err := parseHead(path, line)
	if err == nil && (h.Name != ref.Name || h.Folder != ref.Folder) {
		err = damaged(path, 1, errOtherBank)
	}
	return sum, err
}
