// Package memories has what people do with banks of memory: they look what is there and who wrote it, edit it, take it to
// another machine, and have it forgotten. Each change leaves a line of the audit.
package memories

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/suggestion"
)

// patience is how long a change waits for a bank that another process keeps: each does so for one line.
const patience = 10 * time.Second

// Desk is where a person works with the banks of a home, as a project folder names them.
type Desk struct {
	Home     string
	By       string        // the person
	Patience time.Duration // 0: 10 seconds
	store    *bank.Store
}

// Open returns the desk of a person. Nothing is read yet.
func Open(home, folder, by string) *Desk {
	return &Desk{Home: home, By: by, store: bank.Open(home, folder, nil)}
}

// Listed is a bank in a list.
type Listed struct {
	Bank     string     `json:"bank"`
	Folder   string     `json:"folder,omitempty"` // of the project; "": every project shares it
	Files    int        `json:"files"`
	Bytes    int        `json:"bytes"`
	Versions int        `json:"versions"`
	Sessions int        `json:"sessions"` // that have seen it
	Written  *time.Time `json:"written,omitempty"`
	Unread   []string   `json:"unread,omitempty"`       // files that none of the newest runs has read
	Texts    int        `json:"texts,omitempty"`        // that it has remembered by itself
	Idle     int        `json:"unread_texts,omitempty"` // those of them that none of the newest runs has found
	Error    string     `json:"error,omitempty"`        // why it cannot be read
}

// List returns the banks of the project folder and the shared ones, or those of every project. One that cannot be read is
// in the list with its error.
func (d *Desk) List(every bool) ([]Listed, error) {
	found, err := d.store.List(every)
	out := make([]Listed, len(found))
	for i := range found {
		f := &found[i]
		out[i] = Listed{
			Bank: f.Ref.String(), Folder: f.Ref.Folder, Files: f.Files, Bytes: f.Bytes, Versions: f.Versions, Sessions: f.Sessions, Unread: f.Unread, Texts: f.Texts, Idle: f.Idle,
		}
		if !f.Last.IsZero() {
			out[i].Written = &f.Last
		}
		if f.Err != nil {
			out[i].Error = f.Err.Error()
		}
	}
	return out, err
}

// bank returns what a bank has, which is there.
func (d *Desk) bank(name string) (*bank.History, error) {
	h, err := d.store.Read(name)
	if err != nil || h.Last() > 0 {
		return h, err
	}
	if err := d.store.Whole(name); err != nil {
		return nil, err
	}
	var names []string
	if all, err := d.List(false); err == nil { // a hint is worth no error
		for i := range all {
			names = append(names, all[i].Bank)
		}
	}
	rest, shared := memory.Split(name)
	where := "in this project folder"
	if shared {
		where = "that projects share"
	}
	text := fmt.Sprintf("there is no bank %q %s", rest, where)
	if near := nearest(name, names); near != "" {
		text += fmt.Sprintf("; did you mean %s?", near)
	}
	return nil, failure.New(failure.InvalidRequest, errors.New(text), "windlass memory list")
}

// nearest returns the bank that a name most likely means: first that of the same name at the other place.
func nearest(name string, names []string) string {
	rest, shared := memory.Split(name)
	other := memory.Shared + name
	if shared {
		other = rest
	}
	if slices.Contains(names, other) {
		return other
	}
	return suggestion.For(name, names)
}

// pathIn returns the path in a bank that a person means.
func pathIn(name, given string) (string, error) {
	path, err := memory.PathOf(given)
	if err != nil {
		return "", failure.New(failure.InvalidRequest, fmt.Errorf("read the path in the bank %s: %w", name, err), "windlass memory show "+name)
	}
	return path, nil
}

// noFile says that a bank has no file at a path, and what there is in its place.
func noFile(h *bank.History, path string) error {
	name := h.Ref.String()
	text, try := fmt.Sprintf("the bank %s has no file %s", name, path), "windlass memory show "+name
	switch versions := h.Versions(path); {
	case len(versions) > 0:
		text += " any more"
		try = "windlass memory history " + name + " " + oneline.Quoted(path)
	default:
		var paths []string
		for p := range h.Files(h.Now()) {
			paths = append(paths, p)
		}
		slices.Sort(paths)
		if near := suggestion.For(path, paths); near != "" {
			text += fmt.Sprintf("; did you mean %s?", near)
		}
	}
	return failure.New(failure.InvalidRequest, errors.New(text), try)
}

// here returns the sessions that are on this machine.
func (d *Desk) here() ([]string, error) { return archive.Folders(d.Home) }
