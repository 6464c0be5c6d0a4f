package mailbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// Audibles are what persons say to a session, in its mailbox.
type Audibles struct{ Box }

// Audible is what a person says to a session while it runs.
type Audible struct {
	Phase string `json:"phase,omitempty"` // that it is for; "": whichever takes audibles first
	echo.Audible
	Taken string `json:"-"` // the key of the place that has taken it; "": none has
}

// Same reports whether two say the same, whoever said it and when.
func (a *Audible) Same(b *Audible) bool {
	return a.Phase == b.Phase && a.Text == b.Text && a.Retry == b.Retry && a.Letter == b.Letter
}

// OtherAudibleError says that the id of an audible is that of another one.
type OtherAudibleError struct {
	ID    string
	First *Audible // nil: it is no more there
}

func (e *OtherAudibleError) Error() string {
	if e.First == nil {
		return fmt.Sprintf("the letter %s was another one", e.ID)
	}
	return fmt.Sprintf("the letter %s was left already, and says something else: %s said it (%s) at %s",
		e.ID, cmp.Or(e.First.By, "somebody"), e.First.Via, e.First.At.Local().Format("2006-01-02 15:04:05"))
}

// Say leaves what a person says, under the id of its letter. The same is left once; the error is an [*OtherAudibleError] when
// the letter says something else.
func (b Audibles) Say(a Audible) error {
	err := b.write(audibleFile(a.Letter), a)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	first, err := b.read(audibleFile(a.Letter))
	switch {
	case err != nil:
		return err
	case first == nil || !first.Same(&a):
		return &OtherAudibleError{a.Letter, first}
	}
	return nil
}

// IsSaid reports whether an audible with this id is in the mailbox, whoever has taken it.
func (b Audibles) IsSaid(letter string) bool {
	a, err := b.read(audibleFile(letter))
	return a != nil && err == nil
}

// All returns what persons have said, by time and then by letter. Files that cannot be read are left out: [Box.Damaged] has
// them.
func (b Audibles) All() ([]*Audible, error) {
	files, err := b.files()
	if err != nil {
		return nil, err
	}
	var out []*Audible
	for _, file := range files {
		if !strings.HasPrefix(file, "audible-") {
			continue
		}
		a, err := b.read(file)
		if err != nil || a == nil {
			continue
		}
		if a.Taken, err = b.claimed(heardFile(a.Letter)); err == nil {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b *Audible) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Letter, b.Letter)) })
	return out, nil
}

// Hear returns the oldest audible for a phase that no other place has taken, and takes it for one; nil when there is none. The
// same place gets the same each time.
func (b Audibles) Hear(phase, place string) (*Audible, error) {
	all, err := b.All()
	if err != nil {
		return nil, err
	}
	if at := slices.IndexFunc(all, func(a *Audible) bool { return a.Taken == place }); at >= 0 {
		return all[at], nil
	}
	for _, a := range all {
		if a.Taken != "" || a.Phase != "" && a.Phase != phase {
			continue
		}
		err := b.write(heardFile(a.Letter), taken{place})
		if errors.Is(err, fs.ErrExist) {
			continue // another place was faster
		}
		if err != nil {
			return nil, err
		}
		return a, nil
	}
	return nil, nil //nolint:nilnil // see above
}

// Forget removes what a person has said, which its session has recorded, and who has taken it.
func (b Audibles) Forget(letter string) error {
	if err := b.remove(audibleFile(letter)); err != nil {
		return err
	}
	return b.remove(heardFile(letter))
}

func (b Audibles) read(file string) (*Audible, error) {
	var a Audible
	path, err := b.decode(file, &a)
	switch {
	case path == "" || err != nil:
		return nil, err
	case a.At.IsZero():
		return nil, fmt.Errorf("read %s: it has no time", path)
	case a.Text == "":
		return nil, fmt.Errorf("read %s: it says nothing", path)
	case file != audibleFile(a.Letter):
		return nil, fmt.Errorf("read %s: it has the letter of another file", path)
	}
	return &a, nil
}

func audibleFile(letter string) string { return "audible-" + letter + ".json" }
func heardFile(letter string) string   { return "heard-" + letter + ".json" }
