package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/simulate"
	"github.com/windlass-run/windlass/internal/term/diagnostics"
)

// localJournal returns the id of a session of this machine by its beginning, and its journal.
func (con *console) localJournal(begins string) (id, path string, err error) {
	arc, err := con.archive()
	if err != nil {
		return "", "", asExit(err)
	}
	id, err = arc.Here(begins)
	return id, archive.JournalPath(arc.Home, id), asExit(err)
}

// conversationsError says what to do about an argument that cannot be replayed.
func conversationsError(err error) error {
	var folder *simulate.FolderError
	switch {
	case errors.As(err, new(*exitError)):
		return err
	case archive.IsOtherVersion(err):
		return withExit(exitStorage, err, "") // it says itself what to do
	case journal.IsUnreadable(err):
		return withExit(exitStorage, err, "restore the journal from a copy, or choose another session: windlass sessions list")
	case errors.As(err, &folder):
		return usageError(err, "windlass simulate "+filepath.Join(folder.Path, "*.jsonl"))
	case errors.As(err, new(*simulate.UnknownSourceError)):
		return usageError(err, "windlass sessions list")
	case failure.Is(err, failure.InvalidRequest):
		return usageError(err, "docs/simulate.md describes the files")
	}
	return err
}

// choosePolicies reads --policy.
func choosePolicies(con *console, texts []string) ([]simulate.Policy, error) {
	list, found, err := simulate.ChoosePolicies(texts, "--policy")
	diagnostics.Write(con.err, found)
	var choice *simulate.ChoiceError
	switch {
	case errors.As(err, &choice):
		return nil, usageError(fmt.Errorf("--%w", err), cmp.Or(choice.Try, "windlass simulate --help"))
	case err != nil:
		return nil, usageError(err, "docs/cascade.md describes the settings of intra_context")
	}
	return list, nil
}

// choosePrices reads --prices.
func choosePrices(con *console, texts []string) ([]simulate.Prices, error) {
	if len(texts) == 0 {
		return nil, usageError(errors.New("--prices is empty"), "--prices 0.1, or leave it out")
	}
	const forms = "--prices 0.1, --prices 2.5:0.25, or --prices MODEL"
	list, err := simulate.ChoosePrices(texts, func(model string) (*config.Price, error) {
		cfg, err := con.config()
		if err != nil {
			return nil, asExit(err)
		}
		return llm.NewRouter(cfg, environment.Getenv).Price(model), nil
	})
	var choice *simulate.ChoiceError
	switch {
	case errors.As(err, new(*exitError)):
		return nil, err
	case errors.As(err, &choice):
		return nil, usageError(fmt.Errorf("--%w", err), cmp.Or(choice.Try, forms))
	case err != nil:
		return nil, usageError(err, forms)
	}
	return list, nil
}
