package memories

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/oneline"
)

// Version is one state of one file, as people see it.
type Version struct {
	ID        string    `json:"version"`
	Path      string    `json:"path"`
	At        time.Time `json:"at"`
	Person    string    `json:"person,omitempty"`
	Session   string    `json:"session,omitempty"`
	Key       echo.Key  `json:"key,omitzero"` // of the call, in the session
	Command   string    `json:"command"`
	Bytes     int       `json:"bytes"`
	Gone      bool      `json:"gone,omitempty"`      // the file was deleted, or has another path now
	Forgotten bool      `json:"forgotten,omitempty"` // a person has taken the text out
	From      string    `json:"from,omitempty"`      // the path before it was renamed
	Imported  bool      `json:"imported,omitempty"`  // it was written in another copy of the bank
	Current   bool      `json:"current,omitempty"`   // nothing replaces it
	ReadBy    []string  `json:"read_by,omitempty"`   // sessions, in the order in which they did last
	See       string    `json:"see,omitempty"`       // the command that shows the message, of a session on this machine
}

// Who returns who wrote the version: a person, or a session.
func (v *Version) Who() string {
	if v.Person != "" {
		return v.Person
	}
	return v.Session
}

func versionOf(p bank.Placed) Version {
	o := p.Origin()
	return Version{
		ID: p.ID, Path: p.Path, At: o.At, Person: o.By.Person, Session: o.By.Session, Key: o.By.Key, Command: o.Command, Bytes: len(p.Text),
		Gone: p.Gone, Forgotten: p.Forgotten, From: p.From, Imported: p.Version.Origin != nil,
	}
}

// File is a file as the bank has it now.
type File struct {
	Version
	Versions int      `json:"versions"`         // of the path
	Others   []string `json:"others,omitempty"` // further versions that nothing replaces
	Text     *string  `json:"text,omitempty"`   // where it was asked for
}

// Tree returns the files of a bank, or those in a folder of it, by their paths.
func (d *Desk) Tree(name, folder string) ([]File, error) {
	h, err := d.bank(name)
	if err != nil {
		return nil, err
	}
	if folder, err = pathIn(name, folder); err != nil {
		return nil, err
	}
	return treeOf(h, folder), nil
}

func treeOf(h *bank.History, folder string) []File {
	out := []File{}
	for _, path := range h.Paths() {
		if now, is := h.Current(path); is && (path == folder || strings.HasPrefix(path, folder+"/")) {
			out = append(out, fileOf(h, now))
		}
	}
	return out
}

func fileOf(h *bank.History, now bank.Placed) File {
	f := File{Version: versionOf(now), Versions: len(h.Versions(now.Path))}
	for _, other := range h.Heads(now.Path, h.Last()) {
		if other.ID == now.ID {
			f.Current = true
			continue
		}
		f.Others = append(f.Others, other.ID)
	}
	return f
}

// Show returns a file with its text: as it is now, or an older version by the beginning of its id. A folder has no text:
// the files in it are returned in its place.
func (d *Desk) Show(name, path, version string) (*File, []File, error) {
	h, err := d.bank(name)
	if err != nil {
		return nil, nil, err
	}
	if path, err = pathIn(name, path); err != nil {
		return nil, nil, err
	}
	if version != "" {
		f, err := olderFile(h, path, version)
		return f, nil, err
	}
	if now, is := h.Current(path); is {
		f := fileOf(h, now)
		f.Text = &now.Text
		return &f, nil, nil
	}
	if in := treeOf(h, path); len(in) > 0 || path == memory.Root {
		return nil, in, nil
	}
	return nil, nil, noFile(h, path)
}

// olderFile returns a file as one version has it.
func olderFile(h *bank.History, path, id string) (*File, error) {
	name := h.Ref.String()
	var found []bank.Placed
	for _, v := range h.Versions(path) {
		if strings.HasPrefix(v.ID, id) {
			found = append(found, v)
		}
	}
	var text string
	switch {
	case len(h.Versions(path)) == 0:
		return nil, noFile(h, path)
	case len(found) == 0:
		text = fmt.Sprintf("%s of the bank %s has no version %s", path, name, id)
	case len(found) > 1:
		text = fmt.Sprintf("%d versions of %s begin with %s", len(found), path, id)
	case found[0].Forgotten:
		text = fmt.Sprintf("the text of version %s of %s was forgotten", found[0].ID, path)
	case found[0].Gone:
		text = fmt.Sprintf("version %s has no text: it says that %s was deleted or renamed", found[0].ID, path)
	default:
		f := fileOf(h, found[0])
		f.Text = &found[0].Text
		return &f, nil
	}
	return nil, failure.New(failure.InvalidRequest, errors.New(text), "windlass memory history "+name+" "+oneline.Quoted(path))
}

// History returns the versions of a bank, or those of one path and of the paths that its file had before, in the order in
// which the bank got them.
func (d *Desk) History(name, path string) ([]Version, error) {
	h, err := d.bank(name)
	if err != nil {
		return nil, err
	}
	here, err := d.here()
	if err != nil {
		return nil, err
	}
	var only map[string]bool
	if path != "" {
		if path, err = pathIn(name, path); err != nil {
			return nil, err
		}
		if only = under(h, path); len(only) == 0 {
			return nil, noFile(h, path)
		}
	}
	readers := readersOf(h)
	out := []Version{}
	for _, e := range h.Entries {
		for i := range e.Versions {
			p := bank.Placed{Version: &e.Versions[i], Entry: e}
			if only != nil && !only[p.ID] {
				continue
			}
			v := versionOf(p)
			v.ReadBy = readers[v.ID]
			v.Current = slices.ContainsFunc(h.Heads(v.Path, h.Last()), func(o bank.Placed) bool { return o.ID == v.ID })
			if slices.Contains(here, v.Session) {
				v.See = seeing(v.Session, v.Key)
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// under returns the versions, by their ids, of a path and of all that is in it, also under names that these had before.
func under(h *bank.History, path string) map[string]bool {
	out := map[string]bool{}
	for _, p := range h.Paths() {
		if p == path || strings.HasPrefix(p, path+"/") {
			family, _ := h.Family(p)
			maps.Copy(out, family)
		}
	}
	return out
}

// readersOf returns the sessions that have read each version, by its id, the last one last.
func readersOf(h *bank.History) map[string][]string {
	out := map[string][]string{}
	for _, e := range h.Entries {
		for _, r := range e.Reads {
			had := slices.DeleteFunc(out[r.Version], func(s string) bool { return s == e.By.Session })
			out[r.Version] = append(had, e.By.Session)
		}
	}
	return out
}

// seeing returns the command that shows the messages of the phase in which a call was made, of the visit or the part of it
// where there are several; where that has a name that a shell may not take as it is, the one that lists the calls. A phase
// without a model has no messages: its call is in what the session has done.
func seeing(session string, key echo.Key) string {
	p := key.Path()
	if p.Turn == 0 || p.Attempt == 0 || p.Scope != "" {
		return "windlass show " + session
	}
	phase := oneline.Quoted(p.Phase)
	if p.Visit > 1 || len(p.Branches) > 0 {
		if phase != p.Phase || slices.ContainsFunc(p.Branches, func(b echo.Step) bool { return b.Name != "" }) {
			return "windlass show " + session + " --calls"
		}
		p.Attempt, p.Turn, p.Effect = 0, 0, nil
		phase = p.Key().String()
	}
	return "windlass context show " + session + " --phase " + phase
}
