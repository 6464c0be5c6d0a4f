package groups

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/standing"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/sessions"
)

// thing is what the calls of messages have left elsewhere.
type thing struct {
	name   string
	forget string // the command that takes a text out of where it is
}

// kept lists what the calls of messages have left elsewhere, which taking them out does not undo, and the commands that take texts
// out there.
func (s *session) kept(list []Message) (names, forget []string) {
	at := map[place]bool{}
	for _, m := range list {
		if m.Kind == echo.KindAnswer && m.Role == echo.RoleAssistant {
			at[placeOf(m.entry)] = true
		}
	}
	count := map[string]int{}
	for _, e := range s.entries {
		if !at[placeOf(e)] {
			continue
		}
		for _, t := range left(e) {
			if count[t.name]++; count[t.name] > 1 {
				continue
			}
			names = append(names, t.name)
			if t.forget != "" {
				forget = append(forget, t.forget)
			}
		}
	}
	slices.Sort(names) // calls of one answer end in any order
	slices.Sort(forget)
	for i, name := range names {
		if n := count[name]; n > 1 {
			names[i] = fmt.Sprintf("%s (%s)", name, quantity.Of(n, "time"))
		}
	}
	return names, forget
}

// left says what an entry of a turn has left elsewhere.
func left(e *echo.Entry) (out []thing) {
	switch e.NodeType { //nolint:exhaustive // the others leave nothing
	case echo.NodeState:
		// What stands at the end of requests goes back to what it was.
		if d, err := echo.Read[echo.State](e); err == nil && d.Key != standing.Scratchpad && d.Key != standing.StateBlock {
			return []thing{{name: "state " + d.Key}}
		}
	case echo.NodeToolStart:
		if e.Tool != nil {
			return []thing{{name: "what " + e.Tool.Name + " did"}}
		}
	case echo.NodeValue:
		if d, err := echo.Read[echo.MemoryCall](e); err == nil {
			for _, v := range d.Wrote {
				if v.Path != "" { // what a bank has remembered by itself it is told of
					out = append(out, thing{v.Path + " of bank " + d.Bank, "windlass memory forget " + d.Bank + " " + oneline.Quoted(v.Path)})
				}
			}
		}
		if d, err := echo.Read[echo.MemoCall](e); err == nil && len(d.Wrote) > 0 {
			return []thing{{"memo " + d.Wrote[0].Memo, "windlass memos forget " + d.Wrote[0].Memo}}
		}
	}
	return out
}

// patience is how long a bank is waited for that another process keeps: each does so for one line.
const patience = 10 * time.Second

// tellBanks has the banks that remember the session by themselves note which of its messages are out of its context, and says
// which cannot.
func (s *session) tellBanks(ctx context.Context, home, person string, now *echo.Withdrawals) (problems []string) {
	var c cascade.Cascade
	if err := json.Unmarshal(s.header.Cascade, &c); err != nil {
		return nil // it has begun nothing
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	store := bank.Open(home, sessions.Folder(s.header.Options), nil)
	w := bank.Withdrawal{Session: s.id, Began: bank.BeganAt(s.header.StartedAt), Number: now.Last(), Messages: now.Contents()}
	for _, name := range cascade.RememberingBanksOf(&c) {
		err := store.Withdraw(ctx, name, person, w)
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("another process keeps it")
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("the bank %s: %v", name, err))
		}
	}
	return problems
}

// UntoldError says that banks that remember by themselves do not know what was taken out of a session, or put back, and find what
// they found before.
type UntoldError struct{ Problems []string }

func (e *UntoldError) Error() string {
	return "the messages are changed, and what banks have remembered of them is not: " + strings.Join(e.Problems, "; ")
}

func untold(session string, problems []string) error {
	return failure.New(failure.StorageFailed, &UntoldError{problems}, "the same command again, when the bank can be written; windlass context groups "+session+" shows how the messages are")
}
