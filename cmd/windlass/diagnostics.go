package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/windlass-run/windlass/cascade"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/source"
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
		fmt.Fprintf(a.err, "Error: %s is not a valid cascade: %s\n", displayName(path), plural(n, "error"))
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
	p := painter{on: wantsColour(w)}
	for _, d := range found {
		severity := p.paint(colourRed, string(d.Severity))
		if d.Severity == cascade.SeverityWarning {
			severity = p.paint(colourYellow, string(d.Severity))
		}
		fmt.Fprintf(w, "%s %s: %s %s\n", p.paint(colourBold, fmt.Sprintf("%s:%d:%d:", clean(d.File), d.Line, d.Col)),
			severity, clean(d.Message), p.paint(colourDim, "["+string(d.Code)+"]"))
		text, carets := source.Snippet{
			Line: d.Line, Col: d.Col - d.SourceCol + 1, EndCol: d.EndCol - d.SourceCol + 1, Source: d.Source,
		}.Lines()
		fmt.Fprintf(w, "%s\n%s\n", text, p.paint(colourRed, carets))
		if d.Hint != "" {
			fmt.Fprintf(w, "      = hint: %s\n", clean(d.Hint))
		}
		fmt.Fprintln(w)
	}
}

// clean makes text from a file safe to print.
func clean(s string) string { return source.Printable(s) }

// cleanLines makes a text of several lines safe to print: it may quote what a tool or an endpoint wrote.
func cleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

func plural(n int, noun string) string { return quantity.Of(n, noun) }

// The escape sequences that the command uses.
const (
	colourBold   = "\x1b[1m"
	colourDim    = "\x1b[2m"
	colourRed    = "\x1b[31m"
	colourGreen  = "\x1b[32m"
	colourYellow = "\x1b[33m"
	colourCyan   = "\x1b[36m"
	colourReset  = "\x1b[0m"
)

// painter colours text, or leaves it alone.
type painter struct{ on bool }

func (p painter) paint(colour, s string) string {
	if !p.on {
		return s
	}
	return colour + s + colourReset
}

// wantsColour reports whether w is a terminal of a person who has not asked for plain text (https://no-color.org).
func wantsColour(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
