package memory

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

// Notes has how much of each bank a run sees, by the entries of its record. Its zero value has none. It is safe for
// concurrent use.
type Notes struct {
	mu     sync.Mutex
	seen   map[string]Seen       // by the names of the banks
	opened map[string][]echo.Key // where each was opened
	own    map[string]map[echo.Hash]bool
	files  map[string]*echo.ProjectFile // by their paths
}

// Add takes an entry, if it is of a bank.
func (n *Notes) Add(e *echo.Entry) {
	if e.NodeType != echo.NodeValue {
		return
	}
	switch path := e.Key.Path(); path.Last().Kind { //nolint:exhaustive // the others are of no bank
	case echo.StepBank:
		if start, err := echo.Read[echo.MemoryStart](e); err == nil {
			n.add(path.Last().Name, &start, e.Key, nil)
		}
	case echo.StepMemory:
		if call, err := echo.Read[echo.MemoryCall](e); err == nil {
			n.add(call.Bank, nil, e.Key, call.Seen)
			n.remember(&call)
		}
	case echo.StepProject:
		if f, err := echo.Read[echo.ProjectFile](e); err == nil {
			n.Keep(&f)
		}
	}
}

func (n *Notes) add(bank string, start *echo.MemoryStart, at echo.Key, paths []echo.MemorySeen) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen, n.opened = map[string]Seen{}, map[string][]echo.Key{}
	}
	seen := n.seen[bank]
	if start != nil {
		seen.Start, n.opened[bank] = max(seen.Start, start.At), append(n.opened[bank], at)
	}
	n.seen[bank] = seen.With(paths)
}

// remember notes what a bank has remembered of the run.
func (n *Notes) remember(call *echo.MemoryCall) {
	if call.Command != CommandRemember {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.own == nil {
		n.own = map[string]map[echo.Hash]bool{}
	}
	if n.own[call.Bank] == nil {
		n.own[call.Bank] = map[echo.Hash]bool{}
	}
	for _, v := range call.Wrote {
		n.own[call.Bank][echo.Hash(v.Version)] = true
	}
}

// Keep notes a file of the project folder as the run sees it.
func (n *Notes) Keep(f *echo.ProjectFile) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.files == nil {
		n.files = map[string]*echo.ProjectFile{}
	}
	n.files[f.Path] = f
}

// File returns a file of the project folder as the run sees it; nil: it was not read.
func (n *Notes) File(path string) *echo.ProjectFile {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.files[path]
}

// of returns how much of a bank the run sees, and whether it was opened elsewhere than by the call at a key.
func (n *Notes) of(bank string, at echo.Key) (seen Seen, opened bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	own := at.Named(echo.StepBank, bank)
	seen = n.seen[bank]
	seen.Own = maps.Clone(n.own[bank])
	return seen, len(n.opened[bank]) > 0 && !slices.Contains(n.opened[bank], own)
}

// Seeing returns how much of a bank a call at a key sees. It opens a bank that the run has not opened.
func Seeing(ctx context.Context, through effect.Effects, site effect.Site, banks Banks, notes *Notes, session, bank string, key echo.Key) (Seen, error) {
	seen, opened := notes.of(bank, key)
	if opened {
		return seen, nil
	}
	return start(ctx, through, site, banks, session, bank, key)
}

// Open records, of each bank, as of which entry a run sees it. One that a fork uses and the session that it comes from
// did not is opened by the first call.
func Open(ctx context.Context, through effect.Effects, site effect.Site, banks Banks, session string, names []string) error {
	for _, name := range names {
		if _, err := start(ctx, through, site, banks, session, name, echo.RunKey()); err != nil {
			return err
		}
	}
	return nil
}

// start records as of which entry a run sees a bank, below a key. The error of the bank is a [*effect.RecordError]:
// nothing is recorded, and the run can be resumed.
func start(ctx context.Context, through effect.Effects, site effect.Site, banks Banks, session, name string, at echo.Key) (Seen, error) {
	s, err := effect.Opening(ctx, through, at.Named(echo.StepBank, name), site, "the bank "+name, func() (*echo.MemoryStart, error) {
		if banks == nil {
			return nil, errNoBanks
		}
		return banks.Start(ctx, name, session)
	})
	return Seen{Start: s.At}, err
}

var errNoBanks = errors.New("this program keeps no memory")

// Answer has a call of the tool answered, and records what it came to. The text is for the model, also where the bank
// cannot be read or written.
func Answer(ctx context.Context, through effect.Effects, site effect.Site, banks Banks, notes *Notes, r *Request, args json.RawMessage) (text string, failed bool, err error) {
	if r.Command, err = Read(args); err != nil {
		return err.Error(), true, nil //nolint:nilerr // the model is told
	}
	r.Hash = echo.TextHash(args)
	if r.Seen, err = Seeing(ctx, through, site, banks, notes, r.Session, r.Bank, r.Key); err != nil {
		return "", false, err
	}
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
