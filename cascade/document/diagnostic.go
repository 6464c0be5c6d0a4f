package document

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/internal/quantity"
)

// Severity says how bad a diagnostic is.
type Severity string

// The severities. What has an error cannot run; what has only warnings can.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Code tells kinds of diagnostics apart. Codes are stable: tools may rely on them.
type Code string

// The codes.
const (
	CodeUnknownKey         Code = "unknown_key"
	CodeMissingKey         Code = "missing_key"
	CodeWrongType          Code = "wrong_type"
	CodeInvalidValue       Code = "invalid_value"
	CodeOutOfRange         Code = "out_of_range"
	CodeNotSupportedYet    Code = "not_supported_yet"
	CodeOlderForm          Code = "older_form"
	CodeUnavailableTool    Code = "unavailable_tool"
	CodeUnknownFile        Code = "unknown_file"
	CodeNoEffect           Code = "no_effect"
	CodeSyntax             Code = "syntax"
	CodeEncoding           Code = "encoding"
	CodeTooLarge           Code = "too_large"
	CodeTooDeep            Code = "too_deep"
	CodeDuplicateKey       Code = "duplicate_key"
	CodeNoPhases           Code = "no_phases"
	CodeDuplicatePhase     Code = "duplicate_phase"
	CodeInvalidName        Code = "invalid_name"
	CodePhaseKind          Code = "phase_kind"
	CodeMisplacedField     Code = "misplaced_field"
	CodeUnknownPhase       Code = "unknown_phase"
	CodeUnknownValidator   Code = "unknown_validator"
	CodeInvalidValidator   Code = "invalid_validator"
	CodeUnknownTool        Code = "unknown_tool"
	CodeDuplicateTool      Code = "duplicate_tool"
	CodeShadowsBuiltin     Code = "shadows_builtin"
	CodeIncompleteTool     Code = "incomplete_tool"
	CodeToolFileOverridden Code = "tool_file_overridden"
	CodeInvalidJQ          Code = "invalid_jq"
	CodeEmptyModel         Code = "empty_model"
	CodeInvalidSchema      Code = "invalid_schema"
	CodeInvalidTemplate    Code = "invalid_template"
	CodeConflicting        Code = "conflicting_settings"
	CodeUnreachablePhase   Code = "unreachable_phase"
	CodeEndlessRoute       Code = "endless_route"
	CodeUnknownVariable    Code = "unknown_variable"
	CodeUnknownArgument    Code = "unknown_argument"
	CodeMissingArgument    Code = "missing_argument"
	CodeLaterPhase         Code = "later_phase"
	CodeUnknownCascade     Code = "unknown_cascade"
	CodeInvalidCascade     Code = "invalid_cascade"
	CodeDuplicateChild     Code = "duplicate_child"
	CodeDuplicateOption    Code = "duplicate_option"
	CodeDuplicateField     Code = "duplicate_field"
	CodeDuplicateTrigger   Code = "duplicate_trigger"
	CodeCycle              Code = "cycle"
	CodeRefusedTool        Code = "refused_tool"
)

// Diagnostic is one thing that is wrong with a file, and where.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Code     Code     `json:"code"`
	File     string   `json:"file"`
	Line     int      `json:"line"`    // from 1
	Col      int      `json:"col"`     // from 1, in characters
	EndCol   int      `json:"end_col"` // the first column after what is meant, on the same line
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"` // the next thing to try

	// Source is the line or, of a long one, the part around Col. SourceCol is its first column.
	Source    string `json:"source"`
	SourceCol int    `json:"source_col"`
}

func (d Diagnostic) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s [%s]", d.File, d.Line, d.Col, d.Severity, d.Message, d.Code)
}

// Diagnostics is everything found in a file and those that belong to it, in the order of the files.
type Diagnostics []Diagnostic

// Count returns how many errors and warnings there are.
func (ds Diagnostics) Count() (errors, warnings int) {
	for _, d := range ds {
		if d.Severity == SeverityError {
			errors++
		}
	}
	return errors, len(ds) - errors
}

// sorted orders diagnostics by place, those of the file before those of others, without repetitions:
// rules and YAML aliases share values.
func (ds Diagnostics) sorted(file string) Diagnostics {
	foreign := func(d Diagnostic) int {
		if d.File == file {
			return 0
		}
		return 1
	}
	out := slices.Clone(ds)
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(foreign(a)-foreign(b), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col),
			cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(out, func(a, b Diagnostic) bool {
		return a.File == b.File && a.Line == b.Line && a.Col == b.Col && a.Message == b.Message
	})
}

// InvalidError says that a file is not sound. It has the warnings, too.
type InvalidError struct {
	File        string
	Diagnostics Diagnostics
}

func (e *InvalidError) Error() string {
	i := slices.IndexFunc(e.Diagnostics, func(d Diagnostic) bool { return d.Severity == SeverityError })
	if i < 0 {
		return ""
	}
	first := e.Diagnostics[i].String()
	if n, _ := e.Diagnostics.Count(); n > 1 {
		return fmt.Sprintf("%s (and %s)", first, quantity.Of(n-1, "more error"))
	}
	return first
}

// Verdict returns what was found in order, and an [InvalidError] when an error is among it.
func (ds Diagnostics) Verdict(name string) (Diagnostics, error) {
	found := ds.sorted(name)
	if n, _ := found.Count(); n > 0 {
		return found, &InvalidError{File: name, Diagnostics: found}
	}
	return found, nil
}
