package memo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Seen is which entries of memos a run sees: those of its start, its own, and those that it was told of since. It is not
// changed any more once it is made.
type Seen struct {
	Start map[string]uint64          // the number of the newest entry at the start, by scope
	More  map[string]map[uint64]bool // later entries, by scope
}

// Of reports whether an entry of a scope is seen.
func (s Seen) Of(scope string, entry uint64) bool {
	return entry <= s.Start[scope] || s.More[scope][entry]
}

// Last returns the number of the newest entry of a scope that is seen.
func (s Seen) Last(scope string) uint64 {
	last := s.Start[scope]
	for at := range s.More[scope] {
		last = max(last, at)
	}
	return last
}

// With returns s with more entries.
func (s Seen) With(more []echo.MemoSeen) Seen {
	if len(more) == 0 {
		return s
	}
	all := map[string]map[uint64]bool{}
	for scope, entries := range s.More {
		all[scope] = maps.Clone(entries)
	}
	for _, m := range more {
		if all[m.Scope] == nil {
			all[m.Scope] = map[uint64]bool{}
		}
		all[m.Scope][m.At] = true
	}
	return Seen{Start: s.Start, More: all}
}

func seenOf(s *echo.MemosStart) Seen {
	return Seen{Start: map[string]uint64{Project: s.At, Global: s.Global}}
}

// Request is a call of a tool.
type Request struct {
	Session string
	Key     echo.Key  // of the call
	Hash    echo.Hash // of its arguments; with the key it tells a repeated call
	Command *Command
	Seen    Seen
}

// Message is one whose words may bring memos.
type Message struct {
	Session string
	Key     echo.Key // of the turn that it begins
	Text    string
	Last    *echo.MemosBrought // what was brought before; nil: nothing
	Seen    Seen
}

// Keeper keeps memos. It is safe for concurrent use.
type Keeper interface {
	// Start returns which memos a session sees that begins now. Asked again it returns the same.
	Start(ctx context.Context, session string) (*echo.MemosStart, error)
	// Call runs a command. What it writes is on the disk before it returns. Asked again with the same key and arguments
	// it writes nothing and returns the same. The error says why memos cannot be read or written; what is wrong with the
	// command is told to the model.
	Call(ctx context.Context, r *Request) (*echo.MemoCall, error)
	// Bring returns which memos a message brings, of those that a session sees ([Set.Bring]); nil: the same as before.
	Bring(ctx context.Context, m *Message) (*echo.MemosBrought, error)
}

// Notes has which memos a run sees, by the entries of its record. Its zero value has none. It is safe for concurrent use.
type Notes struct {
	mu     sync.Mutex
	seen   Seen
	opened []echo.Key // where the memos were opened
}

// Add takes an entry, if it is of memos.
func (n *Notes) Add(e *echo.Entry) {
	if e.NodeType != echo.NodeValue {
		return
	}
	switch path := e.Key.Path(); path.Last().Kind { //nolint:exhaustive // the others are not of memos
	case echo.StepMemos:
		if start, err := echo.Read[echo.MemosStart](e); err == nil {
			n.mu.Lock()
			defer n.mu.Unlock()
			at := maps.Clone(n.seen.Start)
			if at == nil {
				at = map[string]uint64{}
			}
			for scope, entry := range seenOf(&start).Start {
				at[scope] = max(at[scope], entry)
			}
			n.seen, n.opened = Seen{Start: at, More: n.seen.More}, append(n.opened, e.Key)
		}
	case echo.StepMemo:
		if call, err := echo.Read[echo.MemoCall](e); err == nil {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.seen = n.seen.With(call.Seen)
		}
	}
}

// at returns which memos the run sees, and whether they were opened elsewhere than below a key.
func (n *Notes) at(key echo.Key) (seen Seen, opened bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen, len(n.opened) > 0 && !slices.Contains(n.opened, key.Step(echo.StepMemos))
}

// Desk has what calls of one run share.
type Desk struct {
	Through effect.Effects
	Keeper  Keeper // nil: a run that uses memos fails
	Notes   *Notes
	Session string
}

// Open records which memos a run sees. Memos that a fork uses and the session that it comes from did not are opened by
// the first call.
func (d Desk) Open(ctx context.Context, site effect.Site) error {
	_, err := d.start(ctx, site, echo.RunKey())
	return err
}

// start records which memos a run sees, below a key. The error of the memos is a [*effect.RecordError]: nothing is
// recorded, and the run can be resumed.
func (d Desk) start(ctx context.Context, site effect.Site, at echo.Key) (Seen, error) {
	s, err := effect.Opening(ctx, d.Through, at.Step(echo.StepMemos), site, "the memos", func() (*echo.MemosStart, error) { return d.keep().Start(ctx, d.Session) })
	return seenOf(&s), err
}

// seen returns which memos the run sees at a key, and has them opened there where they are not.
func (d Desk) seen(ctx context.Context, site effect.Site, at echo.Key) (Seen, error) {
	seen, opened := d.Notes.at(at)
	if opened {
		return seen, nil
	}
	return d.start(ctx, site, at)
}

// Answer has a call of a tool answered, and records what it came to. The text is for the model, also where memos cannot be
// read or written.
func (d Desk) Answer(ctx context.Context, site effect.Site, key echo.Key, tool string, args json.RawMessage) (text string, failed bool, err error) {
	r := &Request{Session: d.Session, Key: key, Hash: echo.TextHash(args)}
	if r.Command, err = Read(tool, args); err != nil {
		return err.Error(), true, nil //nolint:nilerr // the model is told
	}
	if r.Seen, err = d.seen(ctx, site, key); err != nil {
		return "", false, err
	}
	call, err := effect.WholeReading[echo.MemoCall](ctx, d.Through, key.Step(echo.StepMemo), site, func() echo.Payload {
		call, err := d.keep().Call(ctx, r)
		if err != nil {
			return echo.MemoCall{Tool: tool, Failed: true, Text: fmt.Sprintf("Error: The memos cannot be used now: %v", err)}
		}
		return *call
	})
	return call.Text, call.Failed, err
}

func (d Desk) keep() Keeper {
	if d.Keeper == nil {
		return none{}
	}
	return d.Keeper
}

var errNone = errors.New("this program keeps no memos")

// none keeps no memos.
type none struct{}

func (none) Start(context.Context, string) (*echo.MemosStart, error)     { return nil, errNone }
func (none) Call(context.Context, *Request) (*echo.MemoCall, error)      { return nil, errNone }
func (none) Bring(context.Context, *Message) (*echo.MemosBrought, error) { return nil, errNone }

// Bring returns which memos the words of a message bring to a turn, and records that where it is not what was brought
// before: another message, and a memo that was changed or forgotten since, bring others. Where memos cannot be read, none are
// brought, and the record says why.
func (d Desk) Bring(ctx context.Context, site effect.Site, turn echo.Key, text string, last *echo.MemosBrought) (*echo.MemosBrought, error) {
	m := &Message{Session: d.Session, Key: turn, Text: text, Last: last}
	var err error
	if m.Seen, err = d.seen(ctx, site, turn); err != nil {
		return nil, err
	}
	out, changed, err := effect.Reading[echo.MemosBrought](ctx, d.Through, turn.Step(echo.StepBrought), site, func() echo.Payload {
		out, err := d.keep().Bring(ctx, m)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			out = &echo.MemosBrought{Problem: err.Error()}
		}
		if out == nil || Same(out, last) {
			return nil
		}
		return *out
	})
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !changed:
		return last, nil
	}
	return &out, nil
}
