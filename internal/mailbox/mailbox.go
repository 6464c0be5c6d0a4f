// Package mailbox has what people and other runs leave for the waits of sessions: a folder of files, each of
// which is written once and whole, and never again.
//
//	answer-WAIT.json    the answer to a wait: the first one that is left is the only one
//	signal-LETTER.json  a signal
//	audible-LETTER.json what a person says to the session while it runs
//	heard-LETTER.json   which place of the run has taken that
//	taken-LETTER.json   which wait has taken a signal
//	change-NUMBER.json  what a person has taken out of the views of the session, or back into them
//
// Any process may leave letters at any time. Whoever runs the session turns them into entries of its record:
// what is in a mailbox is not lost when nobody does for a while.
package mailbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// MaxLetter is how long a letter may be, in bytes.
const MaxLetter = 1 << 20

// Box is a mailbox. The folder need not be there.
type Box struct {
	Dir  string
	link func(from, to string) error // nil: os.Link
}

// Letter is what is left in a mailbox.
type Letter struct {
	Wait   string `json:"wait,omitempty"`   // the id of the wait that an answer is for
	Signal string `json:"signal,omitempty"` // the name of a signal
	echo.Answer
}

// TakenError says that a wait has an answer already.
type TakenError struct{ Letter }

func (e *TakenError) Error() string {
	if e.TimedOut {
		return fmt.Sprintf("the wait %s ended without an answer at %s", e.Wait, e.At.Local().Format("2006-01-02 15:04:05"))
	}
	return fmt.Sprintf("the wait %s was answered by %s (%s) at %s", e.Wait, cmp.Or(e.By, "somebody"), e.Via, e.At.Local().Format("2006-01-02 15:04:05"))
}

// TooLongError says that what was to be left is longer than a letter may be.
type TooLongError struct{ Bytes int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("a letter has %d bytes, at most %d are taken", e.Bytes, MaxLetter)
}

// Answer leaves the answer to a wait. The error is a [*TakenError] when it has one.
func (b Box) Answer(wait string, a echo.Answer) error {
	l := Letter{Wait: wait, Answer: a}
	err := b.write(answerFile(wait), l)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	first, err := b.read(answerFile(wait))
	if err != nil {
		return err
	}
	return &TakenError{*first}
}

// Answered returns the answer that was left for a wait, nil when none was.
func (b Box) Answered(wait string) (*echo.Answer, error) {
	l, err := b.read(answerFile(wait))
	if l == nil || err != nil {
		return nil, err
	}
	return &l.Answer, nil
}

// Send leaves a signal under the id of its letter. A signal that is there already is left as it is.
func (b Box) Send(name string, a echo.Answer) error {
	err := b.write(signalFile(a.Letter), Letter{Signal: name, Answer: a})
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// SendOnce is Send for letters whose ids are those of clients, who send a request again when its answer was lost. The error is an
// [*OtherLetterError] when the letter of this id is another signal.
func (b Box) SendOnce(name string, a echo.Answer) error {
	err := b.write(signalFile(a.Letter), Letter{Signal: name, Answer: a})
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	first, err := b.read(signalFile(a.Letter))
	if err != nil {
		return err
	}
	if first == nil || first.Signal != name || !isSameValue(first.Value, a.Value) {
		return &OtherLetterError{ID: a.Letter, First: first}
	}
	return nil
}

// isSameValue compares values that came from JSON.
func isSameValue(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// IsSent reports whether a signal with this id is in a mailbox, whoever has taken it.
func IsSent(b Box, letter string) bool {
	l, err := b.read(signalFile(letter))
	return l != nil && err == nil
}

// Taken returns the signal of a name that a claimant has taken here, nil when there is none.
func (b Box) Taken(name, claimant string) (*echo.Answer, error) {
	letters, err := b.signals(name)
	if err != nil {
		return nil, err
	}
	for _, l := range letters {
		if by, err := b.takenBy(l.Letter); err == nil && by == claimant {
			return &l.Answer, nil
		}
	}
	return nil, nil //nolint:nilnil // see above
}

// Take returns the oldest signal of a name that nobody else has taken, and takes it for a claimant; nil when there is
// none, or none before a deadline that is not zero. The same claimant gets the same signal each time.
func (b Box) Take(name, claimant string, deadline time.Time) (*echo.Answer, error) {
	if a, err := b.Taken(name, claimant); a != nil || err != nil {
		return a, err
	}
	free, err := b.Free(name, deadline)
	if err != nil {
		return nil, err
	}
	for _, l := range free {
		err := b.write(takenFile(l.Letter), taken{claimant})
		if errors.Is(err, fs.ErrExist) {
			continue // somebody else was faster
		}
		if err != nil {
			return nil, err
		}
		return &l.Answer, nil
	}
	return nil, nil //nolint:nilnil // see above
}

// Oldest returns the signal that Take would return, and takes nothing.
func (b Box) Oldest(name, claimant string, deadline time.Time) (*echo.Answer, error) {
	if a, err := b.Taken(name, claimant); a != nil || err != nil {
		return a, err
	}
	free, err := b.Free(name, deadline)
	if err != nil || len(free) == 0 {
		return nil, err
	}
	return &free[0].Answer, nil
}

// Has reports whether Take would return a signal.
func (b Box) Has(name, claimant string, deadline time.Time) (bool, error) {
	a, err := b.Oldest(name, claimant, deadline)
	return a != nil, err
}

// Free returns the signals of a name that nobody has taken and that were sent before a deadline that is not zero, the
// oldest first.
func (b Box) Free(name string, deadline time.Time) ([]Letter, error) {
	letters, err := b.signals(name)
	if err != nil {
		return nil, err
	}
	var out []Letter
	for _, l := range letters {
		by, err := b.takenBy(l.Letter)
		if err == nil && by == "" && (deadline.IsZero() || l.At.Before(deadline)) {
			out = append(out, l)
		}
	}
	return out, nil
}

type taken struct {
	By string `json:"by"`
}

func (b Box) takenBy(letter string) (string, error) { return b.claimed(takenFile(letter)) }

// claimed returns who has taken a letter, by the file that says it; "" when nobody has.
func (b Box) claimed(file string) (string, error) {
	text, err := b.open(file)
	if text == nil || err != nil {
		return "", err
	}
	var t taken
	if err := json.Unmarshal(text, &t); err != nil || t.By == "" { // it was not written by a mailbox, or is torn
		return "", fmt.Errorf("read %s: it does not say who has taken the letter", filepath.Join(b.Dir, file))
	}
	return t.By, nil
}

// signals returns the signals of a name, by their times and then their ids. Files that are no letters are left out:
// [Box.Damaged] has them.
func (b Box) signals(name string) ([]Letter, error) {
	files, err := b.files()
	if err != nil {
		return nil, err
	}
	var out []Letter
	for _, file := range files {
		if !strings.HasPrefix(file, "signal-") {
			continue
		}
		if l, err := b.read(file); err == nil && l != nil && l.Signal == name {
			out = append(out, *l)
		}
	}
	slices.SortFunc(out, func(a, b Letter) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Letter, b.Letter))
	})
	return out, nil
}

// files returns the names of the files that have letters, or say who has taken one.
func (b Box) files() ([]string, error) {
	list, err := os.ReadDir(b.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the mailbox: %w", err)
	}
	var out []string
	for _, e := range list {
		kind, _, ok := strings.Cut(e.Name(), "-")
		if ok && strings.HasSuffix(e.Name(), ".json") && slices.Contains([]string{"answer", "signal", "audible", "heard", "taken", "change"}, kind) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// Damaged returns an error for each file of the mailbox that cannot be read, with its path. What is whole is not
// affected by it.
func (b Box) Damaged() []error {
	files, err := b.files()
	if err != nil {
		return []error{err}
	}
	var out []error
	for _, file := range files {
		switch kind, _, _ := strings.Cut(file, "-"); kind {
		case "taken", "heard":
			_, err = b.claimed(file)
		case "audible":
			_, err = Audibles{b}.read(file)
		case "change":
			_, err = Changes{b}.read(file)
		default:
			_, err = b.read(file)
		}
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

func answerFile(wait string) string   { return "answer-" + wait + ".json" }
func signalFile(letter string) string { return "signal-" + letter + ".json" }
func takenFile(letter string) string  { return "taken-" + letter + ".json" }

// write makes a file that is not there yet: a reader finds all of it or nothing. The error is
// [fs.ErrExist] when it is there.
func (b Box) write(name string, content any) (err error) {
	if !isName(name) {
		return fmt.Errorf("%q is no name of a letter", name)
	}
	text, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("encode a letter: %w", err)
	}
	text = append(text, '\n')
	if len(text) > MaxLetter {
		return &TooLongError{len(text)}
	}
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		return fmt.Errorf("make the mailbox: %w", err)
	}
	f, err := os.CreateTemp(b.Dir, ".letter-*")
	if err != nil {
		return fmt.Errorf("write a letter: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // the link is what counts
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write a letter: %w", err)
	}
	if err := b.leave(f.Name(), name); err != nil {
		return fmt.Errorf("leave a letter: %w", err)
	}
	return syncDir(b.Dir)
}

// isName reports whether a name is that of a file in the folder itself.
func isName(name string) bool {
	return name == filepath.Base(name) && !strings.ContainsAny(name, `/\:`) && len(name) <= 128
}

// read returns a letter, nil when there is none.
func (b Box) read(name string) (*Letter, error) {
	var l Letter
	path, err := b.decode(name, &l)
	switch {
	case path == "" || err != nil:
		return nil, err
	case l.At.IsZero():
		return nil, fmt.Errorf("read %s: it has no time", path)
	case name != answerFile(l.Wait) && name != signalFile(l.Letter):
		return nil, fmt.Errorf("read %s: it has the letter of another file", path)
	}
	return &l, nil
}

// decode reads the one JSON value of a file, and returns its path, "" when it is not there.
func (b Box) decode(name string, into any) (path string, err error) {
	text, err := b.open(name)
	if text == nil || err != nil {
		return "", err
	}
	path = filepath.Join(b.Dir, name)
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return path, fmt.Errorf("read %s: it is no whole letter: %w", path, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return path, fmt.Errorf("read %s: it has more than one letter", path)
	}
	return path, nil
}

func (b Box) open(name string) ([]byte, error) {
	if !isName(name) {
		return nil, fmt.Errorf("%q is no name of a letter", name)
	}
	path := filepath.Join(b.Dir, name)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the mailbox: %w", err)
	case !info.Mode().IsRegular() || info.Size() > MaxLetter:
		return nil, fmt.Errorf("read %s: it is no letter", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the mailbox: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	return io.ReadAll(io.LimitReader(f, MaxLetter))
}

// syncDir makes what was put into a folder durable, where the system can do that.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync the mailbox: %w", err)
	}
	defer f.Close()                                                            //nolint:errcheck // read only
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) { // Windows has no sync of folders
		return fmt.Errorf("sync the mailbox: %w", err)
	}
	return nil
}

// Forget removes the answer to a wait, which its session has recorded. One that is not there is no error.
func (b Box) Forget(wait string) error { return b.remove(answerFile(wait)) }

// ForgetSignal removes a signal that was taken, and who has taken it: the signal first, so that nobody takes it again.
func (b Box) ForgetSignal(letter string) error {
	if err := b.remove("signal-" + letter + ".json"); err != nil {
		return err
	}
	return b.remove(takenFile(letter))
}

func (b Box) remove(name string) error {
	if !isName(name) {
		return fmt.Errorf("%q is no name of a letter", name)
	}
	if err := os.Remove(filepath.Join(b.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a letter: %w", err)
	}
	return nil
}
