package template

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// SyntaxError is a template that cannot be used. Line and Col count from 1 inside the template's text, Col in bytes.
type SyntaxError struct {
	Line, Col int
	Msg       string
	Hint      string // what to try next, may be empty
}

// Error says where and what.
func (e *SyntaxError) Error() string {
	return withHint(fmt.Sprintf("template, line %d, column %d: %s", e.Line, e.Col, e.Msg), e.Hint)
}

// MissingError is a variable that a template uses and that is not there. Name is its dotted path up to the first part
// that is missing.
type MissingError struct {
	Line, Col int
	Name      string
	Hint      string // what was perhaps meant, or what there is
}

// Error names the variable.
func (e *MissingError) Error() string {
	return withHint(fmt.Sprintf("template, line %d, column %d: variable %q is missing", e.Line, e.Col, e.Name), e.Hint)
}

// RenderError is an operation that failed while a template was rendered: values that do not fit it, or a limit.
type RenderError struct {
	Line, Col int
	Msg       string
	Err       error // the cause, such as [ErrLimit]; may be nil
}

// Error says where and what.
func (e *RenderError) Error() string {
	return fmt.Sprintf("template, line %d, column %d: %s", e.Line, e.Col, e.Msg)
}

// Unwrap returns the cause.
func (e *RenderError) Unwrap() error { return e.Err }

// ErrLimit is the cause of a [RenderError] when the template did more work, wrote more, or nested deeper than allowed.
var ErrLimit = errors.New("template limit reached")

func withHint(s, hint string) string {
	if hint == "" {
		return s
	}
	return s + " (" + hint + ")"
}

// pos is a place in a template's text.
type pos struct{ line, col int }

func (p pos) syntax(format string, args ...any) *SyntaxError {
	return &SyntaxError{Line: p.line, Col: p.col, Msg: fmt.Sprintf(format, args...)}
}

// fail gives an error a place, unless it has one already.
func (p pos) fail(err error) error {
	var missing *MissingError
	var render *RenderError
	if err == nil || errors.As(err, &missing) || errors.As(err, &render) {
		return err
	}
	return &RenderError{Line: p.line, Col: p.col, Msg: err.Error(), Err: err}
}

const (
	maxNamesInHint    = 8
	maxNameForGuesses = 64 // longer names are not compared: the distance is quadratic
)

// guess says which of names was perhaps meant by name, or which there are. The prefix is put before each.
func guess(name, prefix string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	best, bestDistance := "", max(2, len(name)/3)+1
	for _, n := range names {
		if len(n) > maxNameForGuesses || len(name) > maxNameForGuesses {
			continue
		}
		if d := levenshtein.ComputeDistance(name, n); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", prefix+best)
	}
	more := ""
	if len(names) > maxNamesInHint {
		more = fmt.Sprintf(" and %d more", len(names)-maxNamesInHint)
		names = names[:maxNamesInHint]
	}
	return "there is " + prefix + strings.Join(names, ", "+prefix) + more
}

// panicError is a bug of this package, or a value whose own encoding panics.
type panicError struct{ value any }

func (e panicError) Error() string {
	return fmt.Sprintf("the template cannot be rendered: %v", e.value)
}
