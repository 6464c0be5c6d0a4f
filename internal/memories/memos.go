package memories

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/memofile"
	"github.com/windlass-run/windlass/internal/suggestion"
)

// Memos is where a person works with the memos of a project folder, and the global ones.
type Memos struct {
	Home     string
	By       string        // the person
	Patience time.Duration // 0: 10 seconds
	store    *memofile.Store
}

// OpenMemos returns the memos of a person. Nothing is read yet.
func OpenMemos(home, folder, by string) *Memos {
	return &Memos{Home: home, By: by, store: memofile.Open(home, folder, nil)}
}

// Memo is one memo, or one version of it, as people see it.
type Memo struct {
	ID      string    `json:"id"`
	Scope   string    `json:"scope"`
	Version string    `json:"version"`
	Text    string    `json:"text,omitempty"`
	Hash    echo.Hash `json:"hash,omitempty"` // of the text
	Tags    []string  `json:"tags"`
	Written
	Gone      bool     `json:"gone,omitempty"`      // the memo was deleted
	Forgotten bool     `json:"forgotten,omitempty"` // a person has taken the text out
	Current   bool     `json:"current,omitempty"`   // it is the memo as it is now
	ReadBy    []string `json:"read_by"`             // sessions that were told of it, the last one last
	Unread    bool     `json:"unread,omitempty"`    // it is the memo as it is now, and none of the newest runs was told of it
	See       string   `json:"see,omitempty"`       // the command that shows the message, of a session on this machine
}

// Written says who has written a version, how and when.
type Written struct {
	At       time.Time `json:"at"`
	Person   string    `json:"person,omitempty"`
	Session  string    `json:"session,omitempty"`
	Key      echo.Key  `json:"key,omitzero"` // of the call, in the session
	Command  string    `json:"command"`
	Imported bool      `json:"imported,omitempty"` // it was written elsewhere
}

// Who returns who wrote it: a person, or a session.
func (m *Memo) Who() string {
	if m.Person != "" {
		return m.Person
	}
	return m.Session
}

// versions returns all versions of the memos of a scope.
func (d *Memos) versions(scope string) ([]Memo, error) {
	h, err := d.store.Read(scope)
	if err == nil && h.Last() == 0 {
		err = d.store.Whole(scope)
	}
	if err != nil {
		return nil, err
	}
	here, err := (&Desk{Home: d.Home}).here()
	if err != nil {
		return nil, err
	}
	readers := map[string][]string{}
	for _, e := range h.Entries {
		for _, r := range e.Reads {
			had := slices.DeleteFunc(readers[r.Version], func(s string) bool { return s == e.By.Session })
			readers[r.Version] = append(had, e.By.Session)
		}
	}
	now, unread := h.Now(), h.Unread(bank.UnreadRuns)
	var out []Memo
	for _, p := range h.Versions("") {
		o := p.Origin()
		m := Memo{
			ID: p.Memo, Scope: scope, Version: p.ID, Text: p.Text, Hash: p.Hash, Tags: append([]string{}, p.Tags...),
			Written: Written{o.At, o.By.Person, o.By.Session, o.By.Key, o.Command, p.Version.Origin != nil}, Gone: p.Gone, Forgotten: p.Forgotten, ReadBy: append([]string{}, readers[p.ID]...),
		}
		if n, is := now.Find(p.Memo); is {
			m.Current = n.Version == p.ID
			m.Unread = m.Current && slices.Contains(unread, p.Memo)
		}
		if slices.Contains(here, m.Session) {
			m.See = seeing(m.Session, m.Key)
		}
		out = append(out, m)
	}
	return out, nil
}

// scopes returns the scopes that one means; "": both.
func scopes(scope string) []string {
	if scope == "" {
		return memo.Scopes()
	}
	return []string{scope}
}

// List returns the memos of a scope, or of both, the newest first; those that have all of some tags.
func (d *Memos) List(scope string, tags []string) ([]Memo, error) { return d.Search(scope, "", tags) }

// Search returns the memos that have words of a query, those with more and rarer words first.
func (d *Memos) Search(scope, query string, tags []string) ([]Memo, error) {
	var set memo.Set
	known := map[string]Memo{}
	for _, scope := range scopes(scope) {
		h, err := d.store.Read(scope)
		if err != nil {
			return nil, err
		}
		set = append(set, h.Now()...)
		all, err := d.versions(scope)
		if err != nil {
			return nil, err
		}
		for _, m := range all {
			known[m.Version] = m
		}
	}
	out := []Memo{}
	for _, m := range set.Search(query, tags) {
		out = append(out, known[m.Version])
	}
	return out, nil
}

// History returns the versions of the memos of a scope, or of one memo, the oldest first.
func (d *Memos) History(scope, id string) ([]Memo, error) {
	out := []Memo{}
	for _, scope := range scopes(scope) {
		all, err := d.versions(scope)
		if err != nil {
			return nil, err
		}
		for _, m := range all {
			if id == "" || m.ID == id {
				out = append(out, m)
			}
		}
	}
	if id != "" && len(out) == 0 {
		return nil, d.unknown(id)
	}
	slices.SortStableFunc(out, func(a, b Memo) int { return a.At.Compare(b.At) })
	return out, nil
}

// Show returns a memo as it is now.
func (d *Memos) Show(id string) (*Memo, error) {
	list, err := d.History("", id)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Current {
			return &list[i], nil
		}
	}
	was := "was deleted"
	if list[len(list)-1].Command == "forget" {
		was = "was forgotten"
	}
	return nil, failure.New(failure.InvalidRequest, fmt.Errorf("the memo %s %s", id, was), "windlass memos history "+id)
}

// unknown says that there is no memo of an id.
func (d *Memos) unknown(id string) error {
	text := fmt.Sprintf("there is no memo %q of this project, and no global one", id)
	var ids []string
	if all, err := d.List("", nil); err == nil { // a hint is worth no error
		for i := range all {
			ids = append(ids, all[i].ID)
		}
	}
	if near := suggestion.For(id, ids); near != "" {
		text += fmt.Sprintf("; did you mean %s?", near)
	}
	return failure.New(failure.InvalidRequest, errors.New(text), "windlass memos list")
}

// MemoEdited is what a change of a memo has come to.
type MemoEdited struct {
	ID      string `json:"id"`
	Scope   string `json:"scope"`
	Changed bool   `json:"changed"` // false: it, or another memo, says that already, and nothing is written
	Gone    bool   `json:"gone,omitempty"`
}

// Add saves a memo. One that says the same already is returned in its place.
func (d *Memos) Add(ctx context.Context, scope, text string, tags []string) (*MemoEdited, error) {
	return d.change(ctx, memo.ToolSave, "", map[string]any{"text": text, "tags": tags, "scope": scope}, "")
}

// Edit gives a memo another text or tags; nil leaves them. A version that the person has seen must still be what is there.
func (d *Memos) Edit(ctx context.Context, id string, text *string, tags []string, seen string) (*MemoEdited, error) {
	if _, err := d.Show(id); err != nil {
		return nil, err
	}
	return d.change(ctx, memo.ToolEdit, id, map[string]any{"id": id, "text": text, "tags": tags}, seen)
}

// Delete deletes a memo. Its versions stay.
func (d *Memos) Delete(ctx context.Context, id string) (*MemoEdited, error) {
	if _, err := d.Show(id); err != nil {
		return nil, err
	}
	return d.change(ctx, memo.ToolDelete, id, map[string]any{"id": id}, "")
}

func (d *Memos) change(ctx context.Context, tool, id string, args map[string]any, seen string) (out *MemoEdited, err error) {
	for k, v := range args {
		if list, is := v.([]string); is && list == nil {
			delete(args, k)
		}
	}
	text, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	c, err := memo.Read(tool, text)
	if err != nil {
		return nil, failure.New(failure.InvalidRequest, errors.New(strings.TrimPrefix(err.Error(), "Error: ")),
			fmt.Sprintf("a text of 1 to %d characters, and --tag TAG for each of up to %d tags, as --tag gotcha --tag api-design", memo.MaxText, memo.MaxTags))
	}
	err = d.audited(ctx, audit.MemoEdit, id, func(ctx context.Context) error {
		e, had, err := d.store.Edit(ctx, d.By, c, seen)
		switch {
		case err != nil:
			return err
		case e != nil:
			v := &e.Versions[0]
			out = &MemoEdited{ID: v.Memo, Scope: c.Scope, Changed: true, Gone: v.Gone}
		case had != nil:
			out = &MemoEdited{ID: had.ID, Scope: had.Scope}
		default:
			out = &MemoEdited{ID: id}
		}
		return nil
	})
	if err == nil && out.Scope == "" {
		var h *memofile.History
		if h, err = d.store.Of(out.ID); err == nil {
			out.Scope = h.Scope
		}
	}
	return out, err
}

// audited makes a change of memos and adds its line of the audit: ids, and never a text.
func (d *Memos) audited(ctx context.Context, what, target string, change func(context.Context) error) error {
	l := audit.Line{At: d.store.Clock(), By: d.By, Via: string(echo.ViaCommand), What: what, Target: target}
	return audited(ctx, d.Home, "memos", &l, d.Patience, change)
}

// MemosExported is what an export has.
type MemosExported struct {
	Scope    string `json:"scope"`
	File     string `json:"file,omitempty"`
	Memos    int    `json:"memos"` // that there are now
	Versions int    `json:"versions"`
}

// Export writes all versions of the memos of a scope.
func (d *Memos) Export(scope string, to io.Writer) (*MemosExported, error) {
	h, err := d.store.Read(scope)
	if err != nil {
		return nil, err
	}
	return &MemosExported{Scope: scope, Memos: len(h.Now()), Versions: len(h.Versions(""))}, d.store.Export(scope, to)
}

// MemosImported is what an import has come to.
type MemosImported struct {
	Scope string `json:"scope"`
	New   int    `json:"new"`   // versions
	Known int    `json:"known"` // versions that were there
}

// Import adds the versions of an export, which is called file.
func (d *Memos) Import(ctx context.Context, scope, file string, from io.Reader) (out *MemosImported, err error) {
	err = d.audited(ctx, audit.MemoImport, scope, func(ctx context.Context) error {
		did, err := d.store.Import(ctx, scope, d.By, file, from)
		if err != nil {
			return err
		}
		out = &MemosImported{Scope: scope, New: did.Versions, Known: did.Known}
		return nil
	})
	return out, err
}

// MemoForgotten is what is forgotten of a memo.
type MemoForgotten struct {
	ID       string   `json:"id"`
	Scope    string   `json:"scope"`
	Versions int      `json:"versions"` // whose text goes
	Also     []string `json:"also"`     // ids of other memos with one of the texts
	Sessions []string `json:"sessions"` // whose records have the text still
	Missing  []string `json:"missing"`  // those of them that are not on this machine
	Look     []string `json:"look"`     // the commands that show the messages with the text, and their hashes
	Redact   []string `json:"redact"`   // the commands that take it out of these messages
	Delete   []string `json:"delete"`   // the commands that remove sessions in which a phase without a model had it, as a value
}

// ToForget returns what Forget would do.
func (d *Memos) ToForget(id string) (*MemoForgotten, error) {
	if _, err := d.History("", id); err != nil {
		return nil, err
	}
	h, err := d.store.Of(id)
	if err != nil {
		return nil, err
	}
	f := h.ToForget(id)
	if f.Versions == 0 {
		return nil, failure.New(failure.InvalidRequest, fmt.Errorf("the memo %s has no text: it was forgotten", id), "windlass memos history "+id)
	}
	return d.forgotten(id, f)
}

// Forget takes all texts of a memo out, for good.
func (d *Memos) Forget(ctx context.Context, id string) (out *MemoForgotten, err error) {
	err = d.audited(ctx, audit.MemoForget, id, func(ctx context.Context) error {
		did, err := d.store.Forget(ctx, d.By, id)
		if err != nil {
			return err
		}
		out, err = d.forgotten(id, did)
		return err
	})
	return out, err
}

func (d *Memos) forgotten(id string, f *memofile.Forgotten) (*MemoForgotten, error) {
	left, err := (&Desk{Home: d.Home}).left(f.Sessions, callsOf(f.Calls))
	if err != nil {
		return nil, err
	}
	return &MemoForgotten{
		ID: id, Scope: f.Scope, Versions: f.Versions, Also: append([]string{}, f.Also...), Sessions: append([]string{}, f.Sessions...),
		Missing: left.missing, Look: left.look, Redact: left.redact, Delete: left.remove,
	}, nil
}

func callsOf(list []memo.Writer) (out []place) {
	for _, w := range list {
		out = append(out, place{w.Session, w.Key})
	}
	return out
}
