package memories

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/quantity"
)

// Draft is a file that a person edits: what it has now, and as of when.
type Draft struct {
	Bank string
	Path string
	Text string // as it is now; empty when the file is new
	New  bool
	seen memory.Seen
}

// Draft returns a file to be edited. A bank and a file that are not there are made when the draft is put in place.
func (d *Desk) Draft(name, path string) (*Draft, error) {
	h, err := d.store.Read(name)
	if err != nil {
		return nil, err
	}
	if path, err = pathIn(name, path); err != nil {
		return nil, err
	}
	now, is := h.Current(path)
	out := &Draft{Bank: name, Path: path, New: !is, seen: h.Now()}
	if is {
		out.Text = now.Text
	}
	return out, nil
}

// Edited is what an edit has come to.
type Edited struct {
	Bank    string    `json:"bank"`
	Wrote   []Version `json:"wrote"`
	Changed bool      `json:"changed"` // false: the text was that already, and nothing is written
}

// Put gives the file of a draft a text. It is refused when somebody else has written the file since the draft was made.
func (d *Desk) Put(ctx context.Context, from *Draft, text string) (*Edited, error) {
	if !from.New && text == from.Text {
		return &Edited{Bank: from.Bank, Wrote: []Version{}}, nil
	}
	return d.edited(ctx, from.Bank, from.Path, func(ctx context.Context) (*bank.Entry, error) {
		return d.store.Overwrite(ctx, from.Bank, d.By, from.Path, text, from.seen)
	})
}

// Keep writes a text that was not taken into a file of its own, so that it is not lost, and returns its path.
func Keep(text string) (path string, err error) {
	f, err := os.CreateTemp("", "windlass-memory-*.txt")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Close())
}

// Delete removes a file, or a folder with all in it. Its versions stay.
func (d *Desk) Delete(ctx context.Context, name, path string) (*Edited, error) {
	return d.run(ctx, name, path, func(path string) memory.Command { return memory.Command{Command: "delete", Path: path} })
}

// Rename gives a file or a folder another path.
func (d *Desk) Rename(ctx context.Context, name, path, to string) (*Edited, error) {
	to, err := pathIn(name, to)
	if err != nil {
		return nil, err
	}
	return d.run(ctx, name, path, func(path string) memory.Command {
		return memory.Command{Command: "rename", OldPath: path, NewPath: to}
	})
}

// run runs a command of the memory tool on what is there.
func (d *Desk) run(ctx context.Context, name, path string, command func(path string) memory.Command) (*Edited, error) {
	h, err := d.bank(name)
	if err != nil {
		return nil, err
	}
	if path, err = pathIn(name, path); err != nil {
		return nil, err
	}
	if len(treeOf(h, path)) == 0 {
		return nil, noFile(h, path)
	}
	return d.edited(ctx, name, path, func(ctx context.Context) (*bank.Entry, error) {
		return d.store.Edit(ctx, name, bank.Edit{Person: d.By, Command: command(path), Seen: h.Now()})
	})
}

func (d *Desk) edited(ctx context.Context, name, path string, change func(context.Context) (*bank.Entry, error)) (*Edited, error) {
	out := &Edited{Bank: name, Wrote: []Version{}, Changed: true}
	err := d.audited(ctx, audit.MemoryEdit, name, name+" "+path, func(ctx context.Context) error {
		e, err := change(ctx)
		if err != nil {
			return err
		}
		for i := range e.Versions {
			out.Wrote = append(out.Wrote, versionOf(bank.Placed{Version: &e.Versions[i], Entry: e}))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// audited makes a change of a bank and adds its line of the audit: names, and never a text.
func (d *Desk) audited(ctx context.Context, what, name, target string, change func(context.Context) error) error {
	l := audit.Line{At: d.store.Clock(), By: d.By, Via: string(echo.ViaCommand), What: what, Target: target}
	return audited(ctx, d.Home, "bank "+name, &l, d.Patience, change)
}

// audited makes a change of what has a name, and adds its line of the audit.
func audited(ctx context.Context, home, of string, l *audit.Line, wait time.Duration, change func(context.Context) error) error {
	if wait == 0 {
		wait = patience
	}
	return audit.Do(ctx, home, *l, func() error {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		err := change(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return failure.New(failure.StorageFailed, fmt.Errorf("change the %s: another process keeps it", of), "try again, or end that process")
		}
		return err
	})
}

// Exported is what an export has.
type Exported struct {
	Bank     string `json:"bank"`
	File     string `json:"file,omitempty"`
	Files    int    `json:"files"` // that there are now
	Versions int    `json:"versions"`
	Texts    int    `json:"texts,omitempty"` // that were remembered
}

// Export writes all versions of a bank.
func (d *Desk) Export(name string, to io.Writer) (*Exported, error) {
	h, err := d.bank(name)
	if err != nil {
		return nil, err
	}
	out := &Exported{Bank: name, Files: len(h.Files(h.Now()))}
	for _, e := range h.Entries {
		out.Versions += len(e.Versions)
	}
	for _, r := range h.Recollections() {
		if !r.Withdrawn {
			out.Texts++
		}
	}
	return out, d.store.Export(name, to)
}

// Imported is what an import has come to.
type Imported struct {
	Bank      string   `json:"bank"`
	New       int      `json:"new"`             // versions
	Texts     int      `json:"texts,omitempty"` // remembered texts that are new
	Known     int      `json:"known"`           // versions and texts that the bank had
	Divergent []string `json:"divergent"`       // paths that were written here and elsewhere
}

// Import adds the versions of an export, which is called file.
func (d *Desk) Import(ctx context.Context, name, file string, from io.Reader) (out *Imported, err error) {
	err = d.audited(ctx, audit.MemoryImport, name, name, func(ctx context.Context) error {
		did, err := d.store.Import(ctx, name, d.By, file, from)
		if err != nil {
			return err
		}
		out = &Imported{Bank: name, New: did.Versions, Texts: did.Texts, Known: did.Known, Divergent: append([]string{}, did.Divergent...)}
		return nil
	})
	return out, err
}

// Forgotten is what a bank forgets.
type Forgotten struct {
	Bank     string   `json:"bank"`
	Path     string   `json:"path,omitempty"`
	Versions int      `json:"versions"`        // whose text goes
	Texts    int      `json:"texts,omitempty"` // remembered texts that go
	What     string   `json:"what,omitempty"`  // of these: the hash of one, or of which session
	Names    []string `json:"names"`           // paths that the file had before
	Sessions []string `json:"sessions"`        // whose records have the text still
	Missing  []string `json:"missing"`         // those of them that are not on this machine
	Also     []string `json:"also"`            // other paths with one of the texts
	Look     []string `json:"look"`            // the commands that show the messages with the text, and their hashes
	Redact   []string `json:"redact"`          // the commands that take it out of these messages
	Delete   []string `json:"delete"`          // the commands that remove sessions in which a phase without a model had it, as a value

	hashes []echo.Hash // of the remembered texts
}

// Subject names what is forgotten.
func (f *Forgotten) Subject() string {
	if f.Texts > 0 {
		return quantity.Of(f.Texts, "remembered text")
	}
	return f.Path
}

// ToForget returns what Forget would do.
func (d *Desk) ToForget(name, path string) (*Forgotten, error) {
	h, err := d.bank(name)
	if err != nil {
		return nil, err
	}
	if path, err = pathIn(name, path); err != nil {
		return nil, err
	}
	if len(h.Versions(path)) == 0 {
		if in := treeOf(h, path); len(in) > 0 {
			return nil, failure.New(failure.InvalidRequest, fmt.Errorf("%s is a folder of the bank %s: files are forgotten one by one", path, name), "windlass memory show "+name)
		}
		return nil, noFile(h, path)
	}
	found := h.ToForget(path)
	if found.Versions == 0 {
		return nil, failure.New(failure.InvalidRequest, fmt.Errorf("the bank %s has no text of %s: it was forgotten", name, path), "windlass memory history "+name+" "+oneline.Quoted(path))
	}
	return d.forgotten(name, path, found)
}

// Forget takes all texts of a file, or remembered texts, out of a bank, for good.
func (d *Desk) Forget(ctx context.Context, f *Forgotten) (out *Forgotten, err error) {
	err = d.audited(ctx, audit.MemoryForget, f.Bank, f.Bank+" "+cmp.Or(f.Path, f.What), func(ctx context.Context) error {
		if f.Texts > 0 {
			did, err := d.store.ForgetTexts(ctx, f.Bank, d.By, f.hashes)
			if err != nil {
				return err
			}
			out, err = d.forgottenTexts(f.Bank, f.What, f.hashes, did)
			return err
		}
		did, err := d.store.Forget(ctx, f.Bank, d.By, f.Path)
		if err != nil {
			return err
		}
		out, err = d.forgotten(f.Bank, f.Path, did)
		return err
	})
	return out, err
}

func (d *Desk) forgotten(name, path string, f *bank.Forgotten) (*Forgotten, error) {
	out := &Forgotten{
		Bank: name, Path: path, Versions: f.Versions, Names: []string{}, Sessions: append([]string{}, f.Sessions...),
		Also: append([]string{}, f.Also...),
	}
	for _, p := range f.Paths {
		if p != path {
			out.Names = append(out.Names, p)
		}
	}
	calls := make([]place, len(f.Calls))
	for i, c := range f.Calls {
		calls[i] = place{c.Session, c.Key}
	}
	left, err := d.left(out.Sessions, calls)
	if err != nil {
		return nil, err
	}
	out.Missing, out.Look, out.Redact, out.Delete = left.missing, left.look, left.redact, left.remove
	return out, nil
}

// place is where in a session a text was written or read.
type place struct {
	session string
	key     echo.Key
}

// left says what has a text still that was forgotten: sessions that are not here, and the commands for the others.
type left struct{ missing, look, redact, remove []string }

// left returns what has a text still, of the sessions that have written or read it.
func (d *Desk) left(sessions []string, calls []place) (*left, error) {
	here, err := d.here()
	if err != nil {
		return nil, err
	}
	out := &left{[]string{}, []string{}, []string{}, []string{}}
	for _, s := range sessions {
		if !slices.Contains(here, s) {
			out.missing = append(out.missing, s)
		}
	}
	for _, call := range calls {
		if slices.Contains(out.missing, call.session) {
			continue
		}
		if call.key.Path().Turn == 0 {
			out.remove = withOnce(out.remove, "windlass sessions delete "+call.session)
			continue
		}
		out.look = withOnce(out.look, seeing(call.session, call.key))
		out.redact = withOnce(out.redact, "windlass sessions redact "+call.session+" HASH --parts")
	}
	return out, nil
}

func withOnce(list []string, one string) []string {
	if slices.Contains(list, one) {
		return list
	}
	return append(list, one)
}
