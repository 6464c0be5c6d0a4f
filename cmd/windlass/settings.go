package main

import "github.com/windlass-run/windlass/internal/config"

// homeFolder returns the folder of windlass.
func homeFolder() (string, error) {
	home, err := config.Home()
	if err != nil {
		return "", withExit(exitStorage, err, "set WINDLASS_HOME to a folder")
	}
	return home, nil
}

// settings returns the folder of windlass, and windlass.json as it applies in this folder.
func settings() (home string, cfg *config.Config, err error) {
	if home, err = homeFolder(); err != nil {
		return "", nil, err
	}
	if cfg, err = config.Open(".", home); err != nil {
		return "", nil, usageError(err, "correct the file; docs/models.md describes it")
	}
	return home, cfg, nil
}
