package waits

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/sessions"
)

// Decided is an earlier wait that somebody has answered.
type Decided struct {
	ID      string      `json:"id"`
	Session string      `json:"session"`
	Asked   string      `json:"asked"`
	Answer  echo.Answer `json:"answer"`
}

// Bounds of what is read for earlier decisions.
const (
	mostSessions = 100      // the newest ones
	largest      = 32 << 20 // of a journal, in bytes
)

// Earlier returns what people of this machine have decided on waits like one, the newest first, at most so many: on
// calls of the same tool; or on what was asked in the same phase of the same cascade. What a clock, a grant or a
// program has answered is no decision. Only the newest sessions are read, and those that cannot be are left out.
func (d Desk) Earlier(ctx context.Context, w *Wait, most int) ([]Decided, error) {
	found, err := sessions.Find(config.SessionsDir(d.Home))
	if err != nil {
		return nil, failure.New(failure.StorageFailed, fmt.Errorf("list sessions: %w", err), "")
	}
	slices.SortFunc(found, func(a, b *sessions.Found) int { return b.StartedAt.Compare(a.StartedAt) })
	var out []Decided
	for _, s := range found[:min(len(found), mostSessions)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		path := filepath.Join(s.Dir, journal.File)
		if info, err := os.Stat(path); err != nil || info.Size() > largest {
			continue
		}
		rec, err := journal.Read(path)
		if err != nil {
			continue
		}
		out = append(out, decided(rec, w)...)
	}
	slices.SortStableFunc(out, func(a, b Decided) int { return b.Answer.At.Compare(a.Answer.At) })
	return out[:min(len(out), most)], nil
}

// decided returns the decisions of one session on waits like one.
func decided(rec *journal.Recording, like *Wait) []Decided {
	waits := map[echo.Key]*echo.Wait{}
	var out []Decided
	for _, e := range record.Counted(rec.Entries) {
		if e.NodeType == echo.NodeWait {
			if w, err := echo.Read[echo.Wait](e); err == nil && isLike(e, &w, like) {
				waits[e.Key] = &w
			}
			continue
		}
		w := waits[e.Key]
		if e.NodeType != echo.NodeAnswer || w == nil {
			continue
		}
		if a, err := echo.Read[echo.Answer](e); err == nil && isDecision(&a) {
			out = append(out, Decided{ID: echo.WaitID(rec.Header.SessionID, e.Key), Session: rec.Header.SessionID, Asked: asked(w), Answer: a})
		}
	}
	return out
}

func isLike(e *echo.Entry, w *echo.Wait, like *Wait) bool {
	switch {
	case w.Kind != like.Kind || w.Kind == echo.WaitSignal:
		return false
	case w.Call != nil && like.Call != nil:
		return w.Call.Tool == like.Call.Tool
	}
	return e.CascadeID == like.Cascade && e.Phase == like.Phase
}

// isDecision reports whether a person has given an answer.
func isDecision(a *echo.Answer) bool {
	return !a.TimedOut && a.Via != echo.ViaGrant && a.Via != echo.ViaTool && a.Via != echo.ViaClock && a.Signal == ""
}

// Text says an answer in one line: what was decided, with its reason.
func (d *Decided) Text() string {
	text, err := json.Marshal(d.Answer.Value)
	if err != nil {
		return ""
	}
	m, ok := d.Answer.Value.(map[string]any)
	if verdict, is := m["decision"].(string); ok && is {
		if reason, _ := m["reason"].(string); reason != "" {
			return verdict + ": " + reason
		}
		if args := m["arguments"]; args != nil {
			if edit, err := json.Marshal(args); err == nil {
				return fmt.Sprintf("%s: %s", verdict, waiting.VisibleLine(edit))
			}
		}
		return verdict
	}
	if s, ok := d.Answer.Value.(string); ok {
		return s
	}
	return string(text)
}

// Edited returns the arguments with which a call runs by an answer that edits them, as canonical JSON; nil for every
// other answer, and for one that is not taken.
func Edited(w *Wait, value any) json.RawMessage {
	if w.Kind != echo.WaitApproval {
		return nil
	}
	checked, err := Check(w, value)
	if err != nil {
		return nil
	}
	m, _ := checked.(map[string]any)
	args, _ := m["arguments"].(json.RawMessage)
	return args
}
