package template

import (
	"fmt"

	"github.com/windlass-run/windlass/internal/template/hint"
	"github.com/windlass-run/windlass/internal/template/syntax"
	"github.com/windlass-run/windlass/internal/template/value"
)

// SyntaxError is a template that cannot be used. Line and Col count from 1, Col in bytes.
type SyntaxError = syntax.Error

// MissingError is a variable that is not there, by its path up to the first part that is missing.
type MissingError struct {
	Line, Col int
	Name      string
	Hint      string // what was perhaps meant, or what there is
}

func (e *MissingError) Error() string {
	return hint.After(fmt.Sprintf("template, line %d, column %d: variable %q is missing", e.Line, e.Col, e.Name), e.Hint)
}

// RenderError is an operation that failed: values that do not fit it, or a limit.
type RenderError struct {
	Line, Col int
	Msg       string
	Err       error // the cause, such as [ErrLimit]; may be nil
}

func (e *RenderError) Error() string {
	return fmt.Sprintf("template, line %d, column %d: %s", e.Line, e.Col, e.Msg)
}

func (e *RenderError) Unwrap() error { return e.Err }

// ErrLimit is the cause of a [RenderError] when a limit of work, output or nesting was reached.
var ErrLimit = value.ErrLimit

func renderError(at syntax.Pos, err error) *RenderError {
	return &RenderError{Line: at.Line, Col: at.Col, Msg: err.Error(), Err: err}
}
