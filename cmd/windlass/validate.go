package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/diagnostics"
)

func newValidateCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check cascade files and say everything that is wrong with them",
		Long: `Check cascade files, JSON or YAML, without running them. Everything that is wrong is reported at once, with its
place in the file. "-" reads standard input. The *.tool.json files beside a cascade are checked with it; they and the
scripts of the scripted model (*.script.json) can be checked by themselves.

Exit codes: 0 when no file has errors (warnings may have been printed), 3 when one has, 2 when one cannot be read.`,
		Example: "  windlass validate cascade.json\n  windlass validate examples/cascades/*.json\n  windlass validate --json cascade.yaml\n" +
			"  generate-cascade | windlass validate -",
		Args: atLeastOne("cascade file"),
		RunE: func(cmd *cobra.Command, args []string) error { return runValidate(cmd.Context(), con, args) },
	}
	cmd.Flags().BoolVar(&con.asJSON, "json", false, "print the diagnostics as a JSON array")
	return cmd
}

// runValidate checks every file, also after one that cannot be read, before it says how it went.
func runValidate(ctx context.Context, con *console, paths []string) error {
	all := cascade.Diagnostics{}
	seen := map[string]bool{} // A tool file is reached from every cascade beside it.
	checked := 0
	var failed error
	for _, path := range paths {
		found, err := app.CheckFile(ctx, path, con.in)
		for _, d := range found {
			if text := d.String(); !seen[text] {
				seen[text] = true
				all = append(all, d)
			}
		}
		if err == nil || errors.As(err, new(*cascade.InvalidError)) {
			checked++
			continue
		}
		if failed != nil {
			reportError(con, failed) // Only the last one is left to be shown by the caller.
		}
		failed = unreadable(path, err)
	}
	if err := printResult(con, checked, all); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if n, _ := all.Count(); n > 0 {
		return &exitError{code: exitInvalid, err: fmt.Errorf("invalid cascade: %s", term.Plural(n, "error")), silent: true}
	}
	return nil
}

func printResult(con *console, checked int, all cascade.Diagnostics) error {
	return con.print(all, func() error {
		if checked == 0 {
			return nil // there is nothing to count, only the error to show
		}
		diagnostics.Write(con.err, all)
		errs, warnings := all.Count()
		_, err := fmt.Fprintf(con.out, "%s, %s, %s\n", term.Plural(checked, "file"), term.Plural(errs, "error"), term.Plural(warnings, "warning"))
		return err
	})
}

// loadCascade loads a cascade and prints its diagnostics, which the error does not repeat.
func loadCascade(ctx context.Context, con *console, path string) (*cascade.Cascade, error) {
	c, found, err := app.LoadCascade(ctx, path, con.in)
	diagnostics.Write(con.err, found)
	switch {
	case errors.As(err, new(*cascade.InvalidError)):
		n, _ := found.Count()
		if path == app.Stdin {
			path = "standard input"
		}
		fmt.Fprintf(con.err, "Error: %s is not a valid cascade: %s\n", path, term.Plural(n, "error"))
		return nil, &exitError{code: exitInvalid, err: err, silent: true}
	case err != nil:
		return nil, unreadable(path, err)
	}
	return c, nil
}

// unreadable is the error for a file that cannot be read at all.
func unreadable(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return withExit(exitUsage, fmt.Errorf("there is no file %s", path), "check the path; windlass validate FILE... reads JSON and YAML")
	}
	return withExit(exitUsage, err, "check that the file can be read")
}
