// Package checkflags loads and checks the cascade files that a command line names; errors in its words.
package checkflags

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/diagnostics"
)

// Files checks files and adds up what is found.
type Files struct {
	in      io.Reader
	known   cascade.Known
	show    func(error)
	seen    map[string]bool // what is reported: a tool file is reached from every cascade beside it
	found   cascade.Diagnostics
	files   []File
	folders bool // there is one among the arguments
	failed  error
}

// File is the line of one file.
type File struct {
	File     string `json:"file"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
}

func (f File) String() string {
	if f.Errors+f.Warnings == 0 {
		return f.File + ": ok"
	}
	return fmt.Sprintf("%s: %s, %s", f.File, term.Plural(f.Errors, "error"), term.Plural(f.Warnings, "warning"))
}

// New returns what checks files, with standard input and what shows an error after which others are checked.
func New(in io.Reader, known cascade.Known, show func(error)) *Files {
	return &Files{in: in, known: known, show: show, seen: map[string]bool{}, found: cascade.Diagnostics{}}
}

// Check checks every file, also after one that cannot be read.
func (v *Files) Check(ctx context.Context, paths []string) {
	for _, path := range paths {
		files, err := v.filesOf(path)
		if err != nil {
			v.fail(err)
		}
		for _, file := range files {
			v.check(ctx, file)
		}
	}
}

// Err says how it went: the last file that could not be read, else that files have errors.
func (v *Files) Err() error {
	if v.failed != nil {
		return v.failed
	}
	if n, _ := v.found.Count(); n > 0 {
		return exit.Shown(exit.Invalid, fmt.Errorf("invalid cascade: %s", term.Plural(n, "error")))
	}
	return nil
}

// filesOf returns the file that an argument names, or those below the folder that it names.
func (v *Files) filesOf(path string) ([]string, error) {
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

func (v *Files) check(ctx context.Context, path string) {
	found, err := app.CheckFile(ctx, path, v.in, v.known)
	if err != nil && !errors.As(err, new(*cascade.InvalidError)) {
		v.fail(unreadable(path, err))
		return
	}
	errs, warnings := app.OwnOf(path, found).Count()
	v.files = append(v.files, File{path, errs, warnings})
	for _, d := range found {
		if text := d.String(); !v.seen[text] {
			v.seen[text] = true
			v.found = append(v.found, d)
		}
	}
}

// fail keeps the last error for the caller to show, and shows those before.
func (v *Files) fail(err error) {
	if v.failed != nil {
		v.show(v.failed)
	}
	v.failed = err
}

// Result is what is printed as JSON.
func (v *Files) Result() any {
	if !v.folders {
		return v.found
	}
	errs, warnings := v.found.Count()
	return map[string]any{
		"files": append([]File{}, v.files...), "errors": errs, "warnings": warnings, "diagnostics": v.found,
	}
}

// Write writes the diagnostics to errw, and the sums to out.
func (v *Files) Write(out, errw io.Writer) error {
	if len(v.files) == 0 {
		return nil // there is nothing to count, only the error to show
	}
	diagnostics.Write(errw, v.found)
	if v.folders {
		for _, f := range v.files {
			if _, err := fmt.Fprintln(out, term.Clean(f.String())); err != nil {
				return err
			}
		}
	}
	errs, warnings := v.found.Count()
	_, err := fmt.Fprintf(out, "%s, %s, %s\n", term.Plural(len(v.files), "file"), term.Plural(errs, "error"), term.Plural(warnings, "warning"))
	return err
}

// Load loads a cascade and writes its diagnostics to errw; the error does not repeat them.
func Load(ctx context.Context, path string, in io.Reader, errw io.Writer) (*cascade.Cascade, error) {
	c, found, err := app.LoadCascade(ctx, path, in)
	diagnostics.Write(errw, found)
	switch {
	case errors.As(err, new(*cascade.InvalidError)):
		n, _ := found.Count()
		if path == app.Stdin {
			path = "standard input"
		}
		fmt.Fprintf(errw, "Error: %s is not a valid cascade: %s\n", path, term.Plural(n, "error"))
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
