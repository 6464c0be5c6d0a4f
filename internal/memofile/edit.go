package memofile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/failure"
)

// The commands of people, in the entries.
const (
	commandAdd    = "add"
	commandEdit   = "edit"
	commandDelete = "delete"
	commandImport = "import"
	commandForget = "forget"
)

// commands are what tools do, as a person does it.
var commands = map[string]string{memo.ToolSave: commandAdd, memo.ToolEdit: commandEdit, memo.ToolDelete: commandDelete}

// Edit runs a command of a tool as a person, on a memo as the person has seen it: as of a version, "" as it is now. What is
// wrong with it is a [failure.InvalidRequest], and so is a memo that somebody else has changed since. The result tells which
// memo says the same already, where nothing is written.
func (s *Store) Edit(ctx context.Context, person string, c *memo.Command, seen string) (e *Entry, had *memo.Memo, err error) {
	scope := c.Scope
	if c.Tool != memo.ToolSave {
		if scope, err = s.scopeOf(c.ID); err != nil {
			return nil, nil, err
		}
	}
	f, err := s.file(scope)
	if err != nil {
		return nil, nil, err
	}
	e, _, err = f.Append(ctx, func(h *History) (*Entry, error) {
		now := h.Now()
		if m, is := now.Find(c.ID); seen != "" && (!is || m.Version != seen) {
			return nil, failure.New(failure.InvalidRequest, fmt.Errorf("edit the memo %s: somebody else has changed it meanwhile", c.ID), "look at it again, and edit what is there now")
		}
		res := c.Run(now, now)
		switch {
		case res.Failed:
			return nil, failure.New(failure.InvalidRequest, errors.New(strings.TrimPrefix(res.Text, "Error: ")), "windlass memos list")
		case res.Change == nil:
			if len(res.Read) > 0 {
				had = res.Read[0]
			}
			return nil, nil //nolint:nilnil // see ledger.File.Append
		}
		w := res.Change
		e := &Entry{By: memo.Writer{Person: person}, Command: commands[c.Tool], Versions: []Version{{Memo: w.ID, Text: w.Text, Tags: w.Tags, Gone: w.Gone}}}
		return e, f.seal(h, e)
	})
	return e, had, err
}

// scopeOf returns the scope of a memo that there is or was.
func (s *Store) scopeOf(id string) (string, error) {
	for _, scope := range memo.Scopes() {
		h, err := s.Read(scope)
		if err != nil {
			return "", err
		}
		if h.has(id) {
			return scope, nil
		}
	}
	return "", failure.New(failure.InvalidRequest, fmt.Errorf("find the memo %s: this project has none of that id, and there is no global one", id), "windlass memos list names the memos")
}

// Of returns a memo's scope with all that it has.
func (s *Store) Of(id string) (*History, error) {
	scope, err := s.scopeOf(id)
	if err != nil {
		return nil, err
	}
	return s.Read(scope)
}

// Forgotten is what was forgotten of a memo.
type Forgotten struct {
	Scope    string
	Versions int           // whose text is gone
	Sessions []string      // that have written or read one of them: their records have the texts still
	Calls    []memo.Writer // the calls by which they did, and the turns that were brought one, each once
	Also     []string      // ids of memos that have one of the texts still, now or before
}

// Forget takes the texts and tags of all versions of a memo out of its file, for good. The versions stay, with the hashes
// of their texts. What records of sessions have of them stays.
func (s *Store) Forget(ctx context.Context, person, id string) (*Forgotten, error) {
	scope, err := s.scopeOf(id)
	if err != nil {
		return nil, err
	}
	f, err := s.file(scope)
	if err != nil {
		return nil, err
	}
	var out *Forgotten
	err = f.Rewrite(ctx, func(h *History) (entries []*Entry, err error) {
		if out, entries = h.without(id); out.Versions == 0 {
			return nil, failure.New(failure.InvalidRequest, fmt.Errorf("forget the memo %s: there is no text of it any more", id), "windlass memos history "+id)
		}
		last := &Entry{By: memo.Writer{Person: person}, Command: commandForget, Versions: []Version{{Memo: id, Gone: true}}}
		return append(entries, last), f.seal(h, last)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// of notes a call whose session has the text, once.
func (f *Forgotten) of(call memo.Writer) {
	if call.Session == "" {
		return
	}
	if !slices.Contains(f.Sessions, call.Session) {
		f.Sessions = append(f.Sessions, call.Session)
	}
	if !slices.Contains(f.Calls, call) {
		f.Calls = append(f.Calls, call)
	}
}

// ToForget returns what [Store.Forget] would forget.
func (h *History) ToForget(id string) *Forgotten {
	out, _ := h.without(id)
	return out
}

// without returns the entries of a history with the texts and tags of a memo taken out, as copies.
func (h *History) without(id string) (*Forgotten, []*Entry) {
	out := &Forgotten{Scope: h.Scope}
	hashes := map[echo.Hash]bool{}
	entries := make([]*Entry, 0, len(h.Entries)+1)
	for _, e := range h.Entries {
		c := *e
		c.Versions = slices.Clone(e.Versions)
		for i := range c.Versions {
			v := &c.Versions[i]
			if v.Memo != id || !v.hasText() {
				continue
			}
			hashes[v.Hash] = true
			out.of(e.Origin(v).By)
			v.Text, v.Tags, v.Forgotten = "", nil, true
			out.Versions++
		}
		if slices.ContainsFunc(e.Reads, func(r Read) bool { return r.Memo == id }) {
			out.of(e.By)
		}
		entries = append(entries, &c)
	}
	for _, p := range h.Versions("") {
		if p.Memo != id && p.hasText() && hashes[p.Hash] && !slices.Contains(out.Also, p.Memo) {
			out.Also = append(out.Also, p.Memo)
		}
	}
	return out, entries
}
