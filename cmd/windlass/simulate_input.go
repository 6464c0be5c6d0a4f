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
)

// localJournal returns the id of a session of this machine by its beginning, and its journal.
func localJournal(begins string) (id, path string, err error) {
	home, err := homeFolder()
	if err != nil {
		return "", "", err
	}
	arc := archive.Archive{Home: home}
	id, err = arc.Here(begins)
	return id, archive.JournalPath(home, id), asExit(err)
}

// conversationsError says what to do about an argument that cannot be replayed.
func conversationsError(err error) error {
	var folder *simulate.FolderError
	var unknown *simulate.UnknownSourceError
	var ee *exitError
	switch {
	case errors.As(err, &ee):
		return err
	case archive.IsOtherVersion(err):
		return withExit(exitStorage, err, "") // it says itself what to do
	case journal.IsUnreadable(err):
		return withExit(exitStorage, err, "restore the journal from a copy, or choose another session: windlass sessions list")
	case errors.As(err, &folder):
		return usageError(err, "windlass simulate "+filepath.Join(folder.Path, "*.jsonl"))
	case errors.As(err, &unknown):
		return usageError(err, "windlass sessions list")
	case failure.Is(err, failure.InvalidRequest):
		return usageError(err, "docs/simulate.md describes the files")
	}
	return err
}

// choosePolicies reads --policy.
func choosePolicies(con *console, texts []string) ([]simulate.Policy, error) {
	list, found, err := simulate.ChoosePolicies(texts, "--policy")
	printDiagnostics(con.err, found)
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
func choosePrices(texts []string) ([]simulate.Prices, error) {
	if len(texts) == 0 {
		return nil, usageError(errors.New("--prices is empty"), "--prices 0.1, or leave it out")
	}
	const forms = "--prices 0.1, --prices 2.5:0.25, or --prices MODEL"
	list, err := simulate.ChoosePrices(texts, func(model string) (*config.Price, error) {
		_, cfg, err := settings()
		if err != nil {
			return nil, err
		}
		return llm.NewRouter(cfg, environment.Getenv).Price(model), nil
	})
	var choice *simulate.ChoiceError
	var ee *exitError
	switch {
	case errors.As(err, &ee):
		return nil, err
	case errors.As(err, &choice):
		return nil, usageError(fmt.Errorf("--%w", err), cmp.Or(choice.Try, forms))
	case err != nil:
		return nil, usageError(err, forms)
	}
	return list, nil
}
