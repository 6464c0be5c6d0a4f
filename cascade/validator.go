package cascade

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ValidatorKind tells validators apart.
type ValidatorKind string

// The kinds of validators.
const (
	ValidatorInline   ValidatorKind = "inline"    // of the cascade's validators: a model judges
	ValidatorNonEmpty ValidatorKind = "non_empty" // the text is not blank
	ValidatorJSON     ValidatorKind = "json"      // the text is one JSON value
	ValidatorRegex    ValidatorKind = "regex"     // regex:PATTERN, in RE2 syntax, matches somewhere in the text
	ValidatorMinWords ValidatorKind = "min_words" // min_words:N
	ValidatorMaxWords ValidatorKind = "max_words" // max_words:N
	ValidatorCommand  ValidatorKind = "command"   // command:LINE, a template, exits with status 0
	ValidatorTool     ValidatorKind = "tool"      // a declared tool, which answers {valid, reason}
	ValidatorCascade  ValidatorKind = "cascade"   // another cascade, whose output is the verdict
)

// Validator is what the text of a loop_until means.
type Validator struct {
	Kind    ValidatorKind
	Name    string         // inline, tool, cascade: the name
	Pattern *regexp.Regexp // regex
	Words   int            // min_words, max_words
	Command string         // command: the template of the command line
}

// LooksAtWorld reports whether the verdict can change while the text stays the same.
func (v Validator) LooksAtWorld() bool { return v.Kind == ValidatorCommand || v.Kind == ValidatorTool }

// ParseValidator parses a loop_until. No other validator has the name of a built-in one.
func (c *Cascade) ParseValidator(text string) (Validator, error) {
	kind, arg, hasArg := strings.Cut(text, ":")
	switch ValidatorKind(kind) {
	case ValidatorNonEmpty, ValidatorJSON:
		if hasArg {
			return Validator{}, fmt.Errorf("validator %q takes no argument", kind)
		}
		return Validator{Kind: ValidatorKind(kind)}, nil
	case ValidatorRegex:
		re, err := regexp.Compile(arg)
		if arg == "" {
			err = errors.New("none is given")
		}
		if err != nil {
			return Validator{}, fmt.Errorf("validator %q needs a regular expression: %w", text, err)
		}
		return Validator{Kind: ValidatorRegex, Pattern: re}, nil
	case ValidatorMinWords, ValidatorMaxWords:
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			return Validator{}, fmt.Errorf("validator %q needs a number of words, at least 1, after the colon", text)
		}
		return Validator{Kind: ValidatorKind(kind), Words: n}, nil
	case ValidatorCommand:
		if strings.TrimSpace(arg) == "" {
			return Validator{}, fmt.Errorf("validator %q needs a command line after the colon", text)
		}
		return Validator{Kind: ValidatorCommand, Command: arg}, nil
	}
	if _, ok := c.Validators[text]; ok {
		return Validator{Kind: ValidatorInline, Name: text}, nil
	}
	if slices.ContainsFunc(c.Tools, func(t Tool) bool { return t.ToolID == text }) {
		return Validator{Kind: ValidatorTool, Name: text}, nil
	}
	if _, ok := c.Reaches[text]; ok {
		return Validator{Kind: ValidatorCascade, Name: text}, nil
	}
	return Validator{}, &UnknownValidatorError{Name: text}
}

// UnknownValidatorError is a name that stands for no validator.
type UnknownValidatorError struct{ Name string }

func (e *UnknownValidatorError) Error() string { return fmt.Sprintf("no validator named %q", e.Name) }

// BuiltinValidators returns the built-in validators as they are written, for messages and schemas.
func BuiltinValidators() []string {
	return []string{"non_empty", "json", "regex:PATTERN", "min_words:N", "max_words:N", "command:LINE"}
}
