package bank

import (
	"context"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/ledger"
)

// Recollection is a remembered text as people see it.
type Recollection struct {
	memory.Text
	Imported bool
	// Withdrawn says that people have taken its message out of the context of its session: no model finds it.
	Withdrawn bool
	ReadBy    []string // sessions whose model was told it by a search, the last one last
}

// Key returns where in its session the text was said: a turn.
func (r *Recollection) Key() echo.Key { return keyOf(&r.Text) }

func keyOf(t *memory.Text) echo.Key {
	key := echo.PhaseKey(t.Phase, max(t.Visit, 1))
	if t.Item > 0 {
		key = key.Numbered(echo.StepItem, t.Item)
	}
	return key.Attempt(max(t.Attempt, 1)).Turn(max(t.Turn, 1))
}

// EachText calls f with each remembered text that is not forgotten, and when its session began in microseconds of Unix time; 0 is
// not known.
func (h *History) EachText(f func(t *memory.Text, began int64)) {
	for _, e := range h.Entries {
		for i := range e.Texts {
			if t := &e.Texts[i]; !t.Forgotten {
				f(t, e.By.Began)
			}
		}
	}
}

// Recollections returns all remembered texts, also forgotten ones, in the order of the bank.
func (h *History) Recollections() (out []Recollection) {
	readers := map[echo.Hash][]string{}
	for _, e := range h.Entries {
		for _, hash := range e.Recalled {
			var others []string
			for _, s := range readers[hash] {
				if s != e.By.Session {
					others = append(others, s)
				}
			}
			readers[hash] = append(others, e.By.Session)
		}
	}
	isOut := withdrawn(h)
	for _, e := range h.Entries {
		for i := range e.Texts {
			t := e.Texts[i]
			out = append(out, Recollection{Text: t, Imported: e.Command == commandImport, Withdrawn: isOut(e, &t), ReadBy: readers[t.Hash]})
		}
	}
	return out
}

// UnreadTexts returns how many remembered texts at least so many runs have not been told of since they were remembered.
func (h *History) UnreadTexts(runs int) (count int) {
	last := map[echo.Hash]uint64{} // the last entry that has read a text
	for _, e := range h.Entries {
		for _, hash := range e.Recalled {
			last[hash] = e.Seq
		}
	}
	seen, isOut := sessionsAfter(h), withdrawn(h)
	for _, e := range h.Entries {
		for i := range e.Texts {
			if t := &e.Texts[i]; !t.Forgotten && !isOut(e, t) && seen[max(e.Seq, last[t.Hash])] >= runs {
				count++
			}
		}
	}
	return count
}

// sessionsAfter returns how many sessions have seen the bank after each entry, by its number.
func sessionsAfter(h *History) []int {
	sessions := make([]string, len(h.Entries))
	for i, e := range h.Entries {
		sessions[i] = e.By.Session
	}
	return ledger.After(sessions)
}

// ForgetTexts takes remembered texts out of the file of a bank, for good. Their hashes stay, so that they are not remembered
// again.
func (s *Store) ForgetTexts(ctx context.Context, bank, person string, hashes []echo.Hash) (*Forgotten, error) {
	f, err := s.file(bank)
	if err != nil {
		return nil, err
	}
	var out *Forgotten
	err = f.Rewrite(ctx, func(h *History) (entries []*Entry, err error) {
		if out, entries = withoutTexts(h, hashes); out.Texts == 0 {
			return nil, failure.Newf(failure.InvalidRequest, "forget texts of the bank %s: it has none of them any more", bank)
		}
		last := &Entry{By: Writer{Person: person}, Command: commandForget}
		return append(entries, last), f.seal(last, h.Last()+1)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// TextsToForget returns what [Store.ForgetTexts] would forget.
func (h *History) TextsToForget(hashes []echo.Hash) *Forgotten {
	out, _ := withoutTexts(h, hashes)
	return out
}

// withoutTexts returns the entries of a history with texts taken out, as copies.
func withoutTexts(h *History, hashes []echo.Hash) (*Forgotten, []*Entry) {
	gone := map[echo.Hash]bool{}
	for _, hash := range hashes {
		gone[hash] = true
	}
	out := &Forgotten{}
	entries := make([]*Entry, 0, len(h.Entries)+1)
	for _, e := range h.Entries {
		c := *e
		c.Texts = nil
		for i := range e.Texts {
			t := e.Texts[i]
			if gone[t.Hash] && !t.Forgotten {
				out.by(Writer{Session: t.Session, Key: keyOf(&t)})
				t.Text, t.Forgotten = "", true
				out.Texts++
			}
			c.Texts = append(c.Texts, t)
		}
		for _, hash := range e.Recalled {
			if gone[hash] {
				out.by(e.By)
				break
			}
		}
		entries = append(entries, &c)
	}
	return out, entries
}
