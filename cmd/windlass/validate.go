package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/diagnostics"
)

func newValidateCommand(con *console) *cobra.Command {
	var o app.RunOptions
	cmd := &cobra.Command{
		Use:   "validate FILE|FOLDER...",
		Short: "Check cascade files and say everything that is wrong with them",
		Long: `Check cascade files, JSON or YAML, without running them. Everything that is wrong is reported at once, with its
place in the file. "-" reads standard input. The *.tool.json files beside a cascade are checked with it; they and the
scripts of the scripted model (*.script.json) can be checked by themselves.

In a folder, and those below it, the cascades are the JSON and YAML files that have "cascade_id" or "phases"; files of tools
and scripts are checked, too. The report then has a line for each file.

Exit codes: 0 when no file has errors (warnings may have been printed), 3 when one has, 2 when one cannot be read.`,
		Example: "  windlass validate cascade.json\n  windlass validate examples/cascades\n  windlass validate --json cascade.yaml\n" +
			"  generate-cascade | windlass validate -",
		Args: atLeastOne("cascade file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v := &validation{console: con, known: app.KnownFor(o), seen: map[string]bool{}, found: cascade.Diagnostics{}}
			return v.run(cmd.Context(), args)
		},
	}
	cmd.Flags().BoolVar(&con.asJSON, "json", false, "print the diagnostics as a JSON array; of a folder an object, with the files")
	cmd.Flags().BoolVar(&o.Rights.AllowCommands, "allow-commands", false, "the runs will have that right: run_command is not refused")
	cmd.Flags().BoolVar(&o.NoClickHouse, "no-clickhouse", false, "the runs will have no ClickHouse: sql_query is refused")
	return cmd
}

// validation checks files and adds up what is found.
type validation struct {
	*console
	known   cascade.Known
	seen    map[string]bool // what is reported: a tool file is reached from every cascade beside it
	found   cascade.Diagnostics
	files   []checkedFile
	folders bool // there is one among the arguments
	failed  error
}

// checkedFile is the line of one file.
type checkedFile struct {
	File     string `json:"file"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
}

func (f checkedFile) String() string {
	if f.Errors+f.Warnings == 0 {
		return f.File + ": ok"
	}
	return fmt.Sprintf("%s: %s, %s", f.File, term.Plural(f.Errors, "error"), term.Plural(f.Warnings, "warning"))
}

// run checks every file, also after one that cannot be read, before it says how it went.
func (v *validation) run(ctx context.Context, paths []string) error {
	for _, path := range paths {
		files, err := v.filesOf(path)
		if err != nil {
			v.fail(err)
		}
		for _, file := range files {
			v.check(ctx, file)
		}
	}
	if err := v.print(v.result(), v.report); err != nil {
		return err
	}
	if v.failed != nil {
		return v.failed
	}
	if n, _ := v.found.Count(); n > 0 {
		return exit.Shown(exit.Invalid, fmt.Errorf("invalid cascade: %s", term.Plural(n, "error")))
	}
	return nil
}

// filesOf returns the file that an argument names, or those below the folder that it names.
func (v *validation) filesOf(path string) ([]string, error) {
	if path == app.Stdin || !isFolder(path) {
		return []string{path}, nil
	}
	v.folders = true
	files, err := app.FindFiles(path)
	if err != nil {
		return files, exit.With(exit.Usage, err, "windlass validate FILE|FOLDER... reads JSON and YAML")
	}
	return files, nil
}

// isFolder reports whether there is a folder; what cannot be read is told where it is read.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (v *validation) check(ctx context.Context, path string) {
	found, err := app.CheckFile(ctx, path, v.in, v.known)
	if err != nil && !errors.As(err, new(*cascade.InvalidError)) {
		v.fail(unreadable(path, err))
		return
	}
	errs, warnings := app.OwnOf(path, found).Count()
	v.files = append(v.files, checkedFile{path, errs, warnings})
	for _, d := range found {
		if text := d.String(); !v.seen[text] {
			v.seen[text] = true
			v.found = append(v.found, d)
		}
	}
}

// fail keeps the last error for the caller to show, and shows those before.
func (v *validation) fail(err error) {
	if v.failed != nil {
		reportError(v.console, v.failed)
	}
	v.failed = err
}

// result is what is printed as JSON.
func (v *validation) result() any {
	if !v.folders {
		return v.found
	}
	errs, warnings := v.found.Count()
	return map[string]any{
		"files": append([]checkedFile{}, v.files...), "errors": errs, "warnings": warnings, "diagnostics": v.found,
	}
}

func (v *validation) report() error {
	if len(v.files) == 0 {
		return nil // there is nothing to count, only the error to show
	}
	diagnostics.Write(v.err, v.found)
	if v.folders {
		for _, f := range v.files {
			if _, err := fmt.Fprintln(v.out, term.Clean(f.String())); err != nil {
				return err
			}
		}
	}
	errs, warnings := v.found.Count()
	_, err := fmt.Fprintf(v.out, "%s, %s, %s\n", term.Plural(len(v.files), "file"), term.Plural(errs, "error"), term.Plural(warnings, "warning"))
	return err
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
		return nil, exit.Shown(exit.Invalid, err)
	case err != nil:
		return nil, unreadable(path, err)
	}
	return c, nil
}

// unreadable is the error for a file that cannot be read at all.
func unreadable(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return exit.With(exit.Usage, fmt.Errorf("there is no file %s", path), "check the path; windlass validate FILE... reads JSON and YAML")
	}
	return exit.With(exit.Usage, err, "check that the file can be read")
}
