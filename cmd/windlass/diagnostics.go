package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/windlass-run/windlass/cascade"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/term"
)

// loadCascade loads a cascade for a command that goes on with it. Warnings and errors are printed; an unsound file is an
// error with the exit code for it, which is not shown a second time.
func loadCascade(ctx context.Context, a *app, path string) (*cascade.Cascade, error) {
	c, found, err := readCascade(ctx, a, path)
	printDiagnostics(a.err, found)
	var invalid *cascade.InvalidError
	switch {
	case errors.As(err, &invalid):
		n, _ := found.Count()
		fmt.Fprintf(a.err, "Error: %s is not a valid cascade: %s\n", displayName(path), term.Plural(n, "error"))
		return nil, &exitError{code: exitInvalid, err: err, silent: true}
	case err != nil:
		return nil, unreadable(path, err)
	}
	return c, nil
}

// stdinName is how a cascade on standard input is named on the command line.
const stdinName = "-"

func displayName(path string) string {
	if path == stdinName {
		return "standard input"
	}
	return path
}

// readCascade loads a file, or standard input for "-".
func readCascade(ctx context.Context, a *app, path string) (*cascade.Cascade, cascade.Diagnostics, error) {
	if path != stdinName {
		return cascade.LoadContext(ctx, path, core.Known())
	}
	data, err := io.ReadAll(io.LimitReader(a.in, source.MaxBytes+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read the cascade from standard input: %w", err)
	}
	return cascade.ParseContext(ctx, "<stdin>", data, core.Known())
}

// unreadable is the error for a file that cannot be read at all.
func unreadable(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return withExit(exitUsage, fmt.Errorf("there is no file %s", path), "check the path; windlass validate FILE... reads JSON and YAML")
	}
	return withExit(exitUsage, err, "check that the file can be read")
}

// printDiagnostics writes diagnostics for people: place and message, the source line with a mark under what is meant,
// and a hint.
func printDiagnostics(w io.Writer, found cascade.Diagnostics) {
	p := term.Painter{On: term.WantsColour(w)}
	for _, d := range found {
		severity := p.Paint(term.Red, string(d.Severity))
		if d.Severity == cascade.SeverityWarning {
			severity = p.Paint(term.Yellow, string(d.Severity))
		}
		fmt.Fprintf(w, "%s %s: %s %s\n", p.Paint(term.Bold, fmt.Sprintf("%s:%d:%d:", term.Clean(d.File), d.Line, d.Col)),
			severity, term.Clean(d.Message), p.Paint(term.Dim, "["+string(d.Code)+"]"))
		text, carets := source.Snippet{
			Line: d.Line, Col: d.Col - d.SourceCol + 1, EndCol: d.EndCol - d.SourceCol + 1, Source: d.Source,
		}.Lines()
		fmt.Fprintf(w, "%s\n%s\n", text, p.Paint(term.Red, carets))
		if d.Hint != "" {
			fmt.Fprintf(w, "      = hint: %s\n", term.Clean(d.Hint))
		}
		fmt.Fprintln(w)
	}
}
