package bank

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/failure"
)

// Remember implements [memory.Banks].
func (s *Store) Remember(ctx context.Context, r *memory.Remembering) (*echo.MemoryCall, error) {
	f, err := s.file(r.Bank)
	if err != nil {
		return nil, err
	}
	by := Writer{Session: r.Session, Began: s.began, Key: r.Key}
	var texts []memory.Text
	_, _, err = f.Append(ctx, func(h *History) (*Entry, error) {
		if had := h.by(by, memory.CommandRemember, func(*Entry) bool { return true }); had != nil {
			texts = had.Texts
			return nil, nil //nolint:nilnil // see ledger.File.Append
		}
		if texts = unknown(h, r.Texts); len(texts) == 0 {
			return nil, nil //nolint:nilnil // see ledger.File.Append
		}
		if total := remembered(h) + bytesOf(texts); total > memory.MaxTexts {
			return nil, failure.Newf(failure.InvalidRequest, "the bank %s would have remembered %d bytes, the limit is %d: forget what nobody needs, or use another bank", r.Bank, total, memory.MaxTexts)
		}
		e := &Entry{By: by, Command: memory.CommandRemember, Texts: texts}
		if err := f.seal(e, h.Last()+1); err != nil {
			return nil, err
		}
		for i := range texts {
			texts[i].At = e.At
		}
		return e, nil
	})
	if err != nil {
		return nil, err
	}
	out := r.Done(texts)
	out.Project = f.ref.Project()
	return out, nil
}

// unknown returns those of some texts that the bank neither has nor has forgotten, each once. One that is withdrawn it does not
// have: somebody else says it now.
func unknown(h *History, texts []memory.Text) (out []memory.Text) {
	known := hashes(h)
	for _, t := range texts {
		if !known[t.Hash] {
			known[t.Hash] = true
			out = append(out, t)
		}
	}
	return out
}

// hashes returns the hashes of all texts that the bank has remembered, also of forgotten ones, but for those that are withdrawn.
func hashes(h *History) map[echo.Hash]bool {
	known, isOut := map[echo.Hash]bool{}, withdrawn(h)
	for _, e := range h.Entries {
		for i := range e.Texts {
			if t := &e.Texts[i]; t.Forgotten || !isOut(e, t) {
				known[t.Hash] = true
			}
		}
	}
	return known
}

// remembered returns how long all remembered texts are together, in bytes.
func remembered(h *History) (total int) {
	for _, e := range h.Entries {
		total += bytesOf(e.Texts)
	}
	return total
}

func bytesOf(texts []memory.Text) (total int) {
	for i := range texts {
		total += len(texts[i].Text)
	}
	return total
}

// Texts returns the remembered texts that somebody sees, each once, in the order of the bank.
func (h *History) Texts(seen memory.Seen) (out []memory.Text) {
	isOut, had := withdrawn(h), map[echo.Hash]bool{}
	for _, e := range h.Entries {
		for i := range e.Texts {
			t := &e.Texts[i]
			if t.Forgotten || had[t.Hash] || e.Seq > seen.Start && !seen.Own[t.Hash] || isOut(e, t) {
				continue
			}
			had[t.Hash] = true
			out = append(out, *t)
		}
	}
	return out
}

// Search implements [memory.Banks].
func (s *Store) Search(ctx context.Context, q *memory.Search) error {
	f, err := s.file(q.Bank)
	if err != nil {
		return err
	}
	h, err := f.Read()
	if err != nil {
		return err
	}
	by := Writer{Session: q.Session, Began: s.began, Key: q.Key}
	e := &Entry{By: by, Command: memory.CommandRecall}
	for _, v := range q.Choose(holdings(h, h.withOwn(q.Seen, by))) {
		if v.Path == "" {
			e.Recalled = append(e.Recalled, echo.Hash(v.Version))
		} else {
			e.Reads = append(e.Reads, Read{Path: v.Path, Version: v.Version})
		}
	}
	if len(e.Recalled)+len(e.Reads) == 0 {
		return nil
	}
	_, _, err = f.Append(ctx, func(h *History) (*Entry, error) { return e, f.seal(e, h.Last()+1) })
	return err
}

func holdings(h *History, seen memory.Seen) *memory.Holdings {
	out := &memory.Holdings{Texts: h.Texts(seen), Files: memory.Files{}, Versions: map[string]string{}}
	for path := range h.paths {
		if v, is := current(h.Heads(path, seen.Of(path))); is {
			out.Files[path], out.Versions[path] = v.Text, v.ID
		}
	}
	return out
}

// needs returns the first version of the file of a bank that can have an entry.
func (e *Entry) needs() int {
	switch {
	case e.Withdrawn != nil:
		return versionWithdrawals
	case len(e.Texts)+len(e.Recalled) > 0:
		return versionTexts
	}
	return versionFirst
}

func needsOf(entries []*Entry) int {
	version := versionFirst
	for _, e := range entries {
		version = max(version, e.needs())
	}
	return version
}

// checkTexts demands that remembered texts are those of their hashes.
func (e *Entry) checkTexts() error {
	for i := range e.Texts {
		if t := &e.Texts[i]; !t.Forgotten && echo.TextHash([]byte(t.Text)) != t.Hash {
			return fmt.Errorf("the remembered text %s is not that of its hash", t.Hash)
		}
	}
	return nil
}
