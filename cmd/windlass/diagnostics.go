package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/diagnostics"
)

// loadCascade loads a cascade for a command that goes on with it. Warnings and errors are printed; an unsound file is an
// error with the exit code for it, which is not shown a second time.
func loadCascade(ctx context.Context, con *console, path string) (*cascade.Cascade, error) {
	c, found, err := app.LoadCascade(ctx, path, con.in)
	diagnostics.Write(con.err, found)
	var invalid *cascade.InvalidError
	switch {
	case errors.As(err, &invalid):
		n, _ := found.Count()
		fmt.Fprintf(con.err, "Error: %s is not a valid cascade: %s\n", displayName(path), term.Plural(n, "error"))
		return nil, &exitError{code: exitInvalid, err: err, silent: true}
	case err != nil:
		return nil, unreadable(path, err)
	}
	return c, nil
}

// stdinName is how a cascade on standard input is named on the command line.
const stdinName = app.Stdin

func displayName(path string) string {
	if path == stdinName {
		return "standard input"
	}
	return path
}

// unreadable is the error for a file that cannot be read at all.
func unreadable(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return withExit(exitUsage, fmt.Errorf("there is no file %s", path), "check the path; windlass validate FILE... reads JSON and YAML")
	}
	return withExit(exitUsage, err, "check that the file can be read")
}
