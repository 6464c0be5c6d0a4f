package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Notes has how much of each bank a run sees, by the entries of its record. Its zero value has none. It is safe for
// concurrent use.
type Notes struct {
	mu   sync.Mutex
	seen map[string]Seen // by the names of the banks
}

// Add takes an entry, if it is of a bank.
func (n *Notes) Add(e *echo.Entry) {
	if e.NodeType != echo.NodeValue {
		return
	}
	switch path := e.Key.Path(); path.Last().Kind { //nolint:exhaustive // the others are of no bank
	case echo.StepBank:
		if start, err := echo.Read[echo.MemoryStart](e); err == nil {
			n.add(path.Last().Name, Seen{Start: start.At}, nil)
		}
	case echo.StepMemory:
		if call, err := echo.Read[echo.MemoryCall](e); err == nil {
			n.add(call.Bank, Seen{}, call.Seen)
		}
	}
}

func (n *Notes) add(bank string, start Seen, paths []echo.MemorySeen) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen = map[string]Seen{}
	}
	was := n.seen[bank]
	was.Start = max(was.Start, start.Start)
	n.seen[bank] = was.With(paths)
}

// Of returns how much of a bank the run sees.
func (n *Notes) Of(bank string) Seen {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen[bank]
}

// Open records, of each bank, as of which entry a run sees it.
func Open(ctx context.Context, through effect.Effects, site effect.Site, banks Banks, session string, names []string) error {
	for _, name := range names {
		var failed error
		_, err := effect.WholeReading[echo.MemoryStart](ctx, through, echo.RunKey().Named(echo.StepBank, name), site, func() echo.Payload {
			start, err := started(ctx, banks, name, session)
			if err != nil {
				failed = err
				return nil
			}
			return *start
		})
		if failed != nil && ctx.Err() == nil {
			return &effect.RecordError{Err: fmt.Errorf("open the bank %s: %w", name, failed)} // nothing is recorded: the run can be resumed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errNoBanks = errors.New("this program keeps no memory")

func started(ctx context.Context, banks Banks, name, session string) (*echo.MemoryStart, error) {
	if banks == nil {
		return nil, errNoBanks
	}
	return banks.Start(ctx, name, session)
}

// Answer has a call of the tool answered, and records what it came to. The text is for the model, also where the bank
// cannot be read or written.
func Answer(ctx context.Context, through effect.Effects, site effect.Site, banks Banks, r *Request, args json.RawMessage) (text string, failed bool, err error) {
	if r.Command, err = Read(args); err != nil {
		return err.Error(), true, nil
	}
	r.Hash = echo.TextHash(args)
	call, err := effect.WholeReading[echo.MemoryCall](ctx, through, r.Key.Step(echo.StepMemory), site, func() echo.Payload {
		call, err := called(ctx, banks, r)
		if err != nil {
			return echo.MemoryCall{
				Bank: r.Bank, Command: r.Command.Command, Path: r.Command.at(), Failed: true, Text: fmt.Sprintf("Error: The bank %s cannot be used now: %v", r.Bank, err),
			}
		}
		return *call
	})
	return call.Text, call.Failed, err
}

func called(ctx context.Context, banks Banks, r *Request) (*echo.MemoryCall, error) {
	if banks == nil {
		return nil, errNoBanks
	}
	return banks.Call(ctx, r)
}

// Told returns what a call has come to that neither reads nor writes.
func (r *Request) Told(res *Result) *echo.MemoryCall {
	return &echo.MemoryCall{Bank: r.Bank, Command: r.Command.Command, Path: r.Command.at(), Text: res.Text, Failed: res.Failed}
}

// at returns the path that a command is about: of a rename, the old one.
func (c *Command) at() string {
	if c.Command == commandRename {
		return c.OldPath
	}
	return c.Path
}
