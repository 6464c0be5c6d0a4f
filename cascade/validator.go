package cascade

import (
	"slices"

	"github.com/windlass-run/windlass/cascade/validators"
)

// Validators and wards are those of package validators.

type (
	// Validator is [validators.Validator].
	Validator = validators.Validator
	// ValidatorKind is [validators.Kind].
	ValidatorKind = validators.Kind
	// Wards is [validators.Wards].
	Wards = validators.Wards
	// Ward is [validators.Ward].
	Ward = validators.Ward
	// WardMode is [validators.Mode].
	WardMode = validators.Mode
)

// The words of their closed sets.
const (
	ValidatorInline   = validators.Inline
	ValidatorNonEmpty = validators.NonEmpty
	ValidatorJSON     = validators.JSON
	ValidatorRegex    = validators.Regex
	ValidatorMinWords = validators.MinWords
	ValidatorMaxWords = validators.MaxWords
	ValidatorCommand  = validators.Command
	ValidatorTool     = validators.Tool
	ValidatorCascade  = validators.Cascade
	WardBlocking      = validators.Blocking
	WardRetry         = validators.Retry
	WardAdvisory      = validators.Advisory
)

// ParseValidator parses a loop_until. No other validator has the name of a built-in one.
func (c *Cascade) ParseValidator(text string) (Validator, error) {
	return validators.Parse(text, func(name string) ValidatorKind {
		if _, ok := c.Validators[name]; ok {
			return ValidatorInline
		}
		if slices.ContainsFunc(c.Tools, func(t Tool) bool { return t.ToolID == name }) {
			return ValidatorTool
		}
		if _, ok := c.Reaches[name]; ok {
			return ValidatorCascade
		}
		return ""
	})
}
