// Package simulateflags makes a simulation of the flags of windlass simulate, and says in their words what is wrong with
// them.
package simulateflags

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/simulate"
	"github.com/windlass-run/windlass/internal/term/diagnostics"
)

// Options are the flags.
type Options struct {
	Policies []string
	Prices   []string
	Plot     bool
	SVG      string
	Calls    string
	Dump     string
}

// Machine is what a simulation reads of this machine.
type Machine struct {
	Config   func() (*config.Config, error)                    // for the prices of models
	Journal  func(session string) (id, path string, err error) // of a session, by the beginning of its id
	Problems io.Writer                                         // gets what is wrong with policies
}

// Replay is a simulation that can begin.
type Replay struct {
	Conversations []*simulate.Conversation
	simulation    *simulate.Simulation
	files         *simulate.Files
}

// Open reads what the flags and the arguments name, and creates the files that are to be written.
func (o *Options) Open(sources []string, m Machine) (*Replay, error) {
	named, err := choosePolicies(o.Policies, m.Problems)
	if err != nil {
		return nil, err
	}
	prices, err := choosePrices(o.Prices, m.Config)
	if err != nil {
		return nil, err
	}
	all, err := simulate.ReadSources(sources, m.Journal)
	if err != nil {
		return nil, conversationsError(err)
	}
	sim := &simulate.Simulation{Policies: simulate.WithHindsight(named), Prices: prices, Keep: o.Dump != "", Series: o.Plot}
	files := &simulate.Files{Named: len(named), Policies: len(sim.Policies)}
	if err := files.Create(o.SVG, o.Calls, o.Dump); err != nil {
		return nil, outputError(err)
	}
	return &Replay{all, sim, files}, nil
}

// Run replays the conversations, and calls step after each.
func (r *Replay) Run(ctx context.Context, step func()) (*simulate.Report, error) {
	return r.simulation.Replay(ctx, r.Conversations, r.files, step)
}

// outputError says what to do about a file that cannot be written.
func outputError(err error) error {
	if errors.As(err, new(*simulate.SameFileError)) {
		return exit.UsageError(err, "a file for each")
	}
	return exit.UsageError(err, "check that the folder exists and can be written")
}

// conversationsError says what to do about an argument that cannot be replayed.
func conversationsError(err error) error {
	var folder *simulate.FolderError
	switch {
	case errors.As(err, new(*exit.Error)):
		return err
	case archive.IsOtherVersion(err):
		return exit.With(exit.Storage, err, "") // it says itself what to do
	case journal.IsUnreadable(err):
		return exit.With(exit.Storage, err, "restore the journal from a copy, or choose another session: windlass sessions list")
	case errors.As(err, &folder):
		return exit.UsageError(err, "windlass simulate "+filepath.Join(folder.Path, "*.jsonl"))
	case errors.As(err, new(*simulate.UnknownSourceError)):
		return exit.UsageError(err, "windlass sessions list")
	case failure.Is(err, failure.InvalidRequest):
		return exit.UsageError(err, "docs/simulate.md describes the files")
	}
	return err
}

// choosePolicies reads --policy.
func choosePolicies(texts []string, problems io.Writer) ([]simulate.Policy, error) {
	list, found, err := simulate.ChoosePolicies(texts, "--policy")
	diagnostics.Write(problems, found)
	var choice *simulate.ChoiceError
	switch {
	case errors.As(err, &choice):
		return nil, exit.UsageError(fmt.Errorf("--%w", err), cmp.Or(choice.Try, "windlass simulate --help"))
	case err != nil:
		return nil, exit.UsageError(err, "docs/cascade.md describes the settings of intra_context")
	}
	return list, nil
}

// choosePrices reads --prices.
func choosePrices(texts []string, read func() (*config.Config, error)) ([]simulate.Prices, error) {
	if len(texts) == 0 {
		return nil, exit.UsageError(errors.New("--prices is empty"), "--prices 0.1, or leave it out")
	}
	const forms = "--prices 0.1, --prices 2.5:0.25, or --prices MODEL"
	list, err := simulate.ChoosePrices(texts, func(model string) (*config.Price, error) {
		cfg, err := read()
		if err != nil {
			return nil, exit.Of(err)
		}
		return llm.NewRouter(cfg, environment.Getenv).Price(model), nil
	})
	var choice *simulate.ChoiceError
	switch {
	case errors.As(err, new(*exit.Error)):
		return nil, err
	case errors.As(err, &choice):
		return nil, exit.UsageError(fmt.Errorf("--%w", err), cmp.Or(choice.Try, forms))
	case err != nil:
		return nil, exit.UsageError(err, forms)
	}
	return list, nil
}
