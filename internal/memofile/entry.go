package memofile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/ledger"
)

// FormatVersion is the version of the files.
const FormatVersion = 1

// noun is what errors call such a file.
const noun = "memo file"

// head is the first line.
type head struct {
	Version int       `json:"windlass_memos"`
	Folder  string    `json:"folder,omitempty"` // the project folder; "": the memos are global
	At      time.Time `json:"at"`
}

// Entry is a line: one call of a run, or what a person does.
type Entry struct {
	Seq      uint64      `json:"seq"` // from 1, without gaps
	At       time.Time   `json:"at"`
	By       memo.Writer `json:"by"`
	Command  string      `json:"command"`            // the tool; or open, brought, add, edit, delete, import, forget
	Call     echo.Hash   `json:"call,omitempty"`     // of the arguments of a call, by which a repeated one is known
	Versions []Version   `json:"versions,omitempty"` // what it has written
	Reads    []Read      `json:"reads,omitempty"`    // what it has told a model of
}

// Read is a version whose text a model was given.
type Read struct {
	Memo    string `json:"memo"`
	Version string `json:"version"`
}

const (
	commandOpen    = "open"    // the entry of a session that begins: it sees all before it
	commandBrought = "brought" // the entry of memos that a message has brought to a turn
)

// durable reports whether an entry is on the disk before somebody is told of it: one that only reads may be lost. The
// number of one that opens is recorded.
func (e *Entry) durable() bool { return len(e.Versions) > 0 || e.Command == commandOpen }

// loses reports whether a line is that of an entry that may be lost.
func loses(line []byte) bool {
	return bytes.Contains(line, []byte(`,"reads":[{"memo":"`)) && !bytes.Contains(line, []byte(`,"versions":[{"id":"`))
}

// Version is one state of one memo. Its id follows from all else that it says, so it is the same wherever the memo is.
type Version struct {
	ID        string    `json:"id"`
	Memo      string    `json:"memo"`
	Text      string    `json:"text,omitempty"`
	Hash      echo.Hash `json:"hash,omitempty"` // of the text; it stays when the text is forgotten
	Tags      []string  `json:"tags,omitempty"`
	Gone      bool      `json:"gone,omitempty"`      // the memo was deleted
	Forgotten bool      `json:"forgotten,omitempty"` // a person has removed the text
	Origin    *Origin   `json:"origin,omitempty"`    // who wrote it, and when, where an import brought it
}

// Origin is where a version comes from that was written elsewhere.
type Origin struct {
	By      memo.Writer `json:"by"`
	At      time.Time   `json:"at"`
	Command string      `json:"command"`
}

// hasText reports whether there is a memo in this state.
func (v *Version) hasText() bool { return !v.Gone && !v.Forgotten }

// Origin returns who wrote a version of an entry.
func (e *Entry) Origin(v *Version) Origin {
	if v.Origin != nil {
		return *v.Origin
	}
	return Origin{By: e.By, At: e.At, Command: e.Command}
}

// idOf returns the id of a version: 16 hexadecimal digits. Forgetting changes a text and tags, and not the id.
func idOf(v *Version, o Origin) (string, error) {
	text, err := json.Marshal(struct {
		Memo string    `json:"memo"`
		Hash echo.Hash `json:"hash"`
		Gone bool      `json:"gone"`
		Origin
	}{v.Memo, v.Hash, v.Gone, o})
	if err != nil {
		return "", fmt.Errorf("make the id of a version: %w", err)
	}
	return string(echo.TextHash(text)), nil
}

// check demands that an entry can follow another one.
func (e *Entry) check(seq uint64) error {
	if e.Seq != seq {
		return fmt.Errorf("the entry has number %d in place of %d", e.Seq, seq)
	}
	for i := range e.Versions {
		if err := e.Versions[i].check(e.Origin(&e.Versions[i])); err != nil {
			return err
		}
	}
	return nil
}

// check demands that a version says what windlass has written.
func (v *Version) check(o Origin) error {
	if id, err := idOf(v, o); err != nil || id != v.ID {
		return fmt.Errorf("the id of a version of the memo %q does not follow from it", v.Memo)
	}
	if !v.hasText() {
		if v.Text != "" {
			return fmt.Errorf("a version of the memo %q without a text has one", v.Memo)
		}
		return nil
	}
	if echo.TextHash([]byte(v.Text)) != v.Hash {
		return fmt.Errorf("the text of the memo %q is not that of its hash", v.Memo)
	}
	return nil
}

var (
	errOther = errors.New("it is that of another project folder")
	errCut   = errors.New("this run has seen more of it: it was cut off, or is another file")
)

// readHead reads the first line. It is that of the project folder that the file is named for.
func readHead(path, folder string, line []byte) (sum chain.Sum, err error) {
	h, sum, err := parseHead(path, line)
	if err == nil && h.Folder != folder {
		err = ledger.Damaged(noun, path, 1, errOther)
	}
	return sum, err
}

// parseHead reads the first line of any file.
func parseHead(path string, line []byte) (h head, sum chain.Sum, err error) {
	sum, err = ledger.Read(line, sum, &h)
	switch {
	case err != nil:
		err = ledger.Damaged(noun, path, 1, err)
	case h.Version != FormatVersion:
		err = failure.New(failure.OtherVersion, fmt.Errorf("memo file %s has version %d, this windlass reads version %d", path, h.Version, FormatVersion),
			"export the memos with the windlass that wrote them, and import them with this one")
	}
	return h, sum, err
}

// readEntry checks and reads a line of a number, which is that of its entry and one more.
func readEntry(path string, number int, before chain.Sum, line []byte) (*Entry, chain.Sum, error) {
	e := new(Entry)
	sum, err := ledger.Read(line, before, e)
	if err == nil {
		err = e.check(uint64(number - 1))
	}
	if err != nil {
		return nil, sum, ledger.Damaged(noun, path, number, err)
	}
	return e, sum, nil
}

// file is the file of a scope.
type file struct {
	*ledger.File[Entry, *History]
	folder string
	now    func() time.Time
}

// project returns the project folder in short; "" of the global memos.
func (f *file) project() string {
	if f.folder == "" {
		return ""
	}
	return projectOf(f.folder)
}

func newFile(scope, folder, path string, now func() time.Time, on ledger.Files) *file {
	return &file{ledger.New(format(scope, folder), path, on), folder, now}
}

// format is what the file of a scope is.
func format(scope, folder string) *ledger.Format[Entry, *History] {
	return &ledger.Format[Entry, *History]{
		Noun:      noun,
		None:      &History{Scope: scope, Folder: folder},
		With:      (*History).with,
		Head:      func(first *Entry) any { return head{FormatVersion, folder, first.At} },
		Durable:   (*Entry).durable,
		Loses:     loses,
		ReadHead:  func(path string, line []byte) (chain.Sum, error) { return readHead(path, folder, line) },
		ReadEntry: readEntry,
	}
}

// seal gives an entry its number and time, which is later than that of all before it, a new memo its id, and versions
// theirs.
func (f *file) seal(h *History, e *Entry) error {
	e.Seq, e.At = h.Last()+1, f.now().UTC().Truncate(time.Microsecond)
	if last := h.latest(); !e.At.After(last) {
		e.At = last.Add(time.Microsecond)
	}
	for i := range e.Versions {
		v := &e.Versions[i]
		if v.Memo == "" {
			id, err := h.newID(e)
			if err != nil {
				return err
			}
			v.Memo = id
		}
		if v.hasText() {
			v.Hash = echo.TextHash([]byte(v.Text))
		}
		id, err := idOf(v, e.Origin(v))
		if err != nil {
			return err
		}
		v.ID = id
	}
	return nil
}
