package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/config/strict"
	"github.com/windlass-run/windlass/internal/llm/script"
	"github.com/windlass-run/windlass/internal/source"
)

// Stdin is the path that stands for a cascade on standard input.
const Stdin = "-"

// LoadCascade loads the cascade of a file, or of stdin for [Stdin], with all that it reaches by name. The error of one that is not
// valid has a [*cascade.InvalidError].
func LoadCascade(ctx context.Context, path string, stdin io.Reader) (*cascade.Cascade, cascade.Diagnostics, error) {
	return loadCascade(ctx, path, stdin, Known())
}

func loadCascade(ctx context.Context, path string, stdin io.Reader, known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error) {
	if path != Stdin {
		return LoadFile(ctx, path, known)
	}
	data, err := io.ReadAll(io.LimitReader(stdin, source.MaxBytes+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read the cascade from standard input: %w", err)
	}
	return foldersHere().Parse(ctx, stdinName, data, known)
}

// CheckFile checks a cascade, or one of the files that are next to cascades: a tool or a script.
// The error of one that is not valid has a [*cascade.InvalidError].
func CheckFile(ctx context.Context, path string, stdin io.Reader, known cascade.Known) (cascade.Diagnostics, error) {
	switch {
	case cascade.IsToolFile(path):
		return cascade.CheckToolFile(ctx, path, known)
	case script.IsFile(path):
		return checkScript(path)
	}
	_, found, err := loadCascade(ctx, path, stdin, known)
	return found, err
}

// OwnOf returns what was found in a file and the tool files beside it, without what was found in
// other cascades that it reaches.
func OwnOf(path string, found cascade.Diagnostics) cascade.Diagnostics {
	if path == Stdin {
		path = stdinName
	}
	return slices.DeleteFunc(slices.Clone(found), func(d cascade.Diagnostic) bool {
		return d.File != path && (!cascade.IsToolFile(d.File) || filepath.Dir(d.File) != filepath.Dir(path))
	})
}

// stdinName stands for the file of a cascade on standard input.
const stdinName = "<stdin>"

// CodeInvalidScript is the code of everything that is wrong with a script.
const CodeInvalidScript cascade.Code = "invalid_script"

// checkScript checks the script of a scripted model.
func checkScript(path string) (cascade.Diagnostics, error) {
	data, err := source.ReadFile(path, script.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("load script: %w", err)
	}
	_, err = script.Parse(path, data)
	var wrong *strict.Error
	if !errors.As(err, &wrong) {
		return nil, err
	}
	lines := strings.Split(string(data), "\n")
	found := make(cascade.Diagnostics, 0, len(wrong.Problems))
	for _, p := range wrong.Problems {
		d := cascade.Diagnostic{
			Severity: cascade.SeverityError, Code: CodeInvalidScript, File: path, Line: p.Pos.Line, Col: p.Pos.Col, EndCol: p.Pos.Col + 1,
			Message: p.Message, Hint: p.Hint, SourceCol: 1,
		}
		if p.Pos.Line <= len(lines) {
			d.Source = strings.TrimSuffix(lines[p.Pos.Line-1], "\r")
		}
		found = append(found, d)
	}
	return found, &cascade.InvalidError{File: path, Diagnostics: found}
}
