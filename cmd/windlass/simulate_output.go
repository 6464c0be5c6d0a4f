package main

import (
	"fmt"
	"path/filepath"

	"github.com/windlass-run/windlass/internal/simulate"
)

// openOutputs begins the files that the flags name.
func openOutputs(to *simulate.Files, opts simulateOptions) error {
	paths := map[string]string{}
	for _, f := range []struct {
		flag, path string
		to         **simulate.File
	}{{"plot", opts.plot, &to.Plot}, {"calls", opts.calls, &to.Calls}, {"dump", opts.dump, &to.Requests}} {
		if f.path == "" {
			continue
		}
		if other, twice := paths[filepath.Clean(f.path)]; twice {
			return usageError(fmt.Errorf("--%s and --%s name the same file", other, f.flag), "a file for each")
		}
		paths[filepath.Clean(f.path)] = f.flag
		file, err := simulate.CreateFile(f.path)
		if err != nil {
			return usageError(fmt.Errorf("--%s: %w", f.flag, err), "check that the folder exists and can be written")
		}
		*f.to = file
	}
	return nil
}
