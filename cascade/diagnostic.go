package cascade

import "github.com/windlass-run/windlass/cascade/document"

type (
	// Diagnostic is one thing that is wrong with a file, and where.
	Diagnostic = document.Diagnostic
	// Diagnostics is everything found in a cascade and its tool files: those of the file first.
	Diagnostics = document.Diagnostics
	// Severity says how bad a diagnostic is.
	Severity = document.Severity
	// Code tells kinds of diagnostics apart. Codes are stable: tools may rely on them.
	Code = document.Code
	// InvalidError says that a file holds no sound cascade. It has the warnings, too.
	InvalidError = document.InvalidError
)

// The severities. A cascade with an error cannot run; one with warnings can.
const (
	SeverityError   = document.SeverityError
	SeverityWarning = document.SeverityWarning
)

// The codes.
const (
	CodeSyntax             = document.CodeSyntax
	CodeEncoding           = document.CodeEncoding
	CodeTooLarge           = document.CodeTooLarge
	CodeTooDeep            = document.CodeTooDeep
	CodeDuplicateKey       = document.CodeDuplicateKey
	CodeUnknownKey         = document.CodeUnknownKey
	CodeMissingKey         = document.CodeMissingKey
	CodeWrongType          = document.CodeWrongType
	CodeInvalidValue       = document.CodeInvalidValue
	CodeOutOfRange         = document.CodeOutOfRange
	CodeNotSupportedYet    = document.CodeNotSupportedYet
	CodeNoPhases           = document.CodeNoPhases
	CodeDuplicatePhase     = document.CodeDuplicatePhase
	CodeInvalidName        = document.CodeInvalidName
	CodePhaseKind          = document.CodePhaseKind
	CodeMisplacedField     = document.CodeMisplacedField
	CodeOlderForm          = document.CodeOlderForm
	CodeUnavailableTool    = document.CodeUnavailableTool
	CodeUnknownFile        = document.CodeUnknownFile
	CodeNoEffect           = document.CodeNoEffect
	CodeUnknownPhase       = document.CodeUnknownPhase
	CodeUnknownValidator   = document.CodeUnknownValidator
	CodeInvalidValidator   = document.CodeInvalidValidator
	CodeUnknownTool        = document.CodeUnknownTool
	CodeDuplicateTool      = document.CodeDuplicateTool
	CodeShadowsBuiltin     = document.CodeShadowsBuiltin
	CodeIncompleteTool     = document.CodeIncompleteTool
	CodeToolFileOverridden = document.CodeToolFileOverridden
	CodeInvalidJQ          = document.CodeInvalidJQ
	CodeEmptyModel         = document.CodeEmptyModel
	CodeInvalidSchema      = document.CodeInvalidSchema
	CodeInvalidTemplate    = document.CodeInvalidTemplate
	CodeConflicting        = document.CodeConflicting
	CodeUnreachablePhase   = document.CodeUnreachablePhase
	CodeEndlessRoute       = document.CodeEndlessRoute
	CodeUnknownVariable    = document.CodeUnknownVariable
	CodeUnknownArgument    = document.CodeUnknownArgument
	CodeMissingArgument    = document.CodeMissingArgument
	CodeLaterPhase         = document.CodeLaterPhase
	CodeUnknownCascade     = document.CodeUnknownCascade
	CodeInvalidCascade     = document.CodeInvalidCascade
	CodeDuplicateChild     = document.CodeDuplicateChild
	CodeDuplicateOption    = document.CodeDuplicateOption
	CodeDuplicateField     = document.CodeDuplicateField
	CodeDuplicateTrigger   = document.CodeDuplicateTrigger
	CodeCycle              = document.CodeCycle
	CodeRefusedTool        = document.CodeRefusedTool
)
