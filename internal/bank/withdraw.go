package bank

import (
	"context"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
)

// Withdrawal says which messages of a session people have taken out of its context: what the bank has remembered of them by
// itself, or will, nobody sees. The newest one of a session counts, by its number.
type Withdrawal struct {
	Session  string      `json:"session"`
	Began    int64       `json:"began,omitempty"` // see [Writer]
	Number   int         `json:"number"`          // of the change of the session as of which that is
	Messages []echo.Hash `json:"messages"`        // content hashes; empty: all were taken back
}

// commandWithdraw is the entry of a withdrawal.
const commandWithdraw = "withdraw"

// Withdraw notes which messages of a session are out of its context. It writes nothing when the bank knows that, or knows
// something newer.
func (s *Store) Withdraw(ctx context.Context, bank, person string, w Withdrawal) error {
	f, err := s.file(bank)
	if err != nil {
		return err
	}
	_, _, err = f.Append(ctx, func(h *History) (*Entry, error) {
		if had, is := withdrawals(h)[writerOf(w.Session, w.Began)]; is && had.Number >= w.Number || !is && len(w.Messages) == 0 {
			return nil, nil //nolint:nilnil // see ledger.File.Append
		}
		e := &Entry{By: Writer{Person: person}, Command: commandWithdraw, Withdrawn: &w}
		return e, f.seal(e, h.Last()+1)
	})
	return err
}

// BeganAt returns when a session began as the file of a bank has it.
func BeganAt(at time.Time) int64 { return at.UnixMicro() }

func writerOf(session string, began int64) Writer { return Writer{Session: session, Began: began} }

// withdrawals returns the newest withdrawal of each session.
func withdrawals(h *History) map[Writer]*Withdrawal {
	out := map[Writer]*Withdrawal{}
	for _, e := range h.Entries {
		if w := e.Withdrawn; w != nil {
			if had := out[writerOf(w.Session, w.Began)]; had == nil || had.Number <= w.Number {
				out[writerOf(w.Session, w.Began)] = w
			}
		}
	}
	return out
}

// withdrawn returns what reports whether a remembered text of an entry is one of a message that is withdrawn. What an import
// has brought is of no session of this machine.
func withdrawn(h *History) func(e *Entry, t *memory.Text) bool {
	gone := map[Writer]map[echo.Hash]bool{}
	for by, w := range withdrawals(h) {
		gone[by] = map[echo.Hash]bool{}
		for _, hash := range w.Messages {
			gone[by][hash] = true
		}
	}
	return func(e *Entry, t *memory.Text) bool {
		return len(gone) > 0 && t.Message != "" && gone[writerOf(t.Session, e.By.Began)][t.Message]
	}
}

// notWithdrawn returns those of some texts that the bank does not have of their sessions as withdrawn: an older export brings
// nothing back that people have taken out since.
func notWithdrawn(h *History, texts []memory.Text) (out []memory.Text) {
	type said struct {
		session string
		hash    echo.Hash
	}
	gone, isOut := map[said]bool{}, withdrawn(h)
	for _, e := range h.Entries {
		for i := range e.Texts {
			if t := &e.Texts[i]; isOut(e, t) {
				gone[said{t.Session, t.Hash}] = true
			}
		}
	}
	for i := range texts {
		if !gone[said{texts[i].Session, texts[i].Hash}] {
			out = append(out, texts[i])
		}
	}
	return out
}
