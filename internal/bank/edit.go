package bank

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/failure"
)

// The commands of people, in the entries of a bank.
const (
	commandEdit   = "edit"
	commandImport = "import"
	commandForget = "forget"
)

// Edit is what a person does to a bank.
type Edit struct {
	Person  string
	Command memory.Command // create, str_replace, insert, delete or rename
	Seen    memory.Seen    // how the person has seen the bank
}

// Edit runs a command of the memory tool as a person. What is wrong with it is a [failure.InvalidRequest]; a file that
// somebody else has written since the person saw it is one too.
func (s *Store) Edit(ctx context.Context, bank string, x Edit) (*Entry, error) {
	return s.change(ctx, bank, x.Person, x.Command.Run, x.Seen)
}

// Overwrite gives a file a new text, whether it is there or not.
func (s *Store) Overwrite(ctx context.Context, bank, person, path, text string, seen memory.Seen) (*Entry, error) {
	return s.change(ctx, bank, person, func(f memory.Files) memory.Result { return f.Put(path, text) }, seen)
}

func (s *Store) change(ctx context.Context, bank, person string, run func(memory.Files) memory.Result, seen memory.Seen) (*Entry, error) {
	f, err := s.file(bank)
	if err != nil {
		return nil, err
	}
	e, _, err := f.Append(ctx, func(h *History) (*Entry, error) {
		res := run(h.Files(seen))
		if res.Failed || len(res.Changes) == 0 {
			return nil, unfit(bank, res)
		}
		for _, path := range res.Paths {
			if !slices.Equal(ids(h.Heads(path, seen.Of(path))), ids(h.Heads(path, h.Last()))) {
				return nil, failure.New(failure.InvalidRequest, fmt.Errorf("edit the bank %s: somebody else has changed %s meanwhile", bank, path), "look at it again, and edit what is there now")
			}
		}
		if now := run(h.Files(h.Now())); now.Failed { // for files that somebody else has made
			return nil, unfit(bank, now)
		}
		e := &Entry{By: Writer{Person: person}, Command: commandEdit, Versions: next(h, res.Changes)}
		return e, f.seal(e, h.Last()+1)
	})
	return e, err
}

func unfit(bank string, res memory.Result) error {
	return failure.New(failure.InvalidRequest, fmt.Errorf("edit the bank %s: %s", bank, problem(res.Text)),
		"windlass memory show "+bank+" lists what is there; then another path, or another text")
}

// problem returns what the memory tool says is wrong, for a person.
func problem(text string) string { return strings.TrimPrefix(text, "Error: ") }
