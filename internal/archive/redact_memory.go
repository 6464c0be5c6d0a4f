package archive

import (
	"context"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/memofile"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/redaction"
	"github.com/windlass-run/windlass/internal/sessions"
)

// Memory is where banks and memos have, or had, the texts of a redacted message: those of its project folder, and shared ones.
type Memory struct {
	Forgotten []string `json:"forgotten,omitempty"` // texts that banks had remembered of it by themselves, and have forgotten now
	Left      []string `json:"left,omitempty"`      // the commands that take other texts with it out
	Problems  []string `json:"problems,omitempty"`  // what could not be looked through, and why
}

// patience is how long a bank is waited for that another process keeps: each does so for one line.
const patience = 10 * time.Second

// memory has banks forget what they have remembered of the message by themselves, and finds what else has its texts.
func (r *redacting) memory(ctx context.Context, plan *redaction.Plan, h journal.Header) (m Memory, err error) {
	folder := sessions.Folder(h.Options)
	store := bank.Open(r.archive.Home, folder, nil)
	banks, err := store.List(false)
	if err != nil {
		m.Problems = append(m.Problems, err.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for i := range banks {
		name := banks[i].Ref.String()
		all, err := store.Read(name)
		if err != nil {
			m.Problems = append(m.Problems, err.Error())
			continue
		}
		if err := r.forget(ctx, &m, store, all, h, plan); err != nil {
			return m, failure.New(failure.StorageFailed, fmt.Errorf("have the bank %s forget what it has remembered of the message: %w", name, err), "the same command again")
		}
	}
	if plan.Parts != nil {
		r.inMemos(&m, folder, plan.Parts)
	}
	return m, nil
}

// forget has a bank forget the texts of the message itself, and notes which other ones have it.
func (r *redacting) forget(ctx context.Context, m *Memory, store *bank.Store, all *bank.History, h journal.Header, plan *redaction.Plan) error {
	name := all.Ref.String()
	var own []echo.Hash
	all.EachText(func(t *memory.Text, began int64) {
		switch {
		case t.Session == r.id && began == bank.BeganAt(h.StartedAt) && t.Message == plan.Redaction.Hash:
			own = append(own, t.Hash)
			m.Forgotten = append(m.Forgotten, name+" "+string(t.Hash))
		case plan.Parts != nil && plan.Parts.In(t.Text):
			m.Left = append(m.Left, "windlass memory forget "+name+" --remembered "+string(t.Hash))
		}
	})
	for _, path := range all.Paths() {
		for _, v := range all.Versions(path) {
			if plan.Parts != nil && !v.Gone && plan.Parts.In(v.Text) {
				m.Left = append(m.Left, "windlass memory forget "+name+" "+oneline.Quoted(path))
				break
			}
		}
	}
	if len(own) == 0 || r.options.DryRun {
		return nil
	}
	_, err := store.ForgetTexts(ctx, name, r.options.By, own)
	return err
}

// inMemos notes which memos have texts of the message.
func (r *redacting) inMemos(m *Memory, folder string, parts *redaction.Leftover) {
	store := memofile.Open(r.archive.Home, folder, nil)
	for _, scope := range memo.Scopes() {
		all, err := store.Read(scope)
		if err != nil {
			m.Problems = append(m.Problems, err.Error())
			continue
		}
		had := map[string]bool{}
		for _, v := range all.Versions("") {
			if !had[v.Memo] && parts.In(v.Text) {
				had[v.Memo] = true
				m.Left = append(m.Left, "windlass memos forget "+v.Memo)
			}
		}
	}
}
