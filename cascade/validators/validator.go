package validators

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Kind tells validators apart.
type Kind string

// The kinds of validators.
const (
	Inline   Kind = "inline"    // of the cascade's validators: a model judges
	NonEmpty Kind = "non_empty" // the text is not blank
	JSON     Kind = "json"      // the text is one JSON value
	Regex    Kind = "regex"     // regex:PATTERN, in RE2 syntax, matches somewhere in the text
	MinWords Kind = "min_words" // min_words:N
	MaxWords Kind = "max_words" // max_words:N
	Command  Kind = "command"   // command:LINE, a template, exits with status 0
	Tool     Kind = "tool"      // a declared tool, which answers {valid, reason}
	Cascade  Kind = "cascade"   // another cascade, whose output is the verdict
)

// Validator is what the text of a loop_until means.
type Validator struct {
	Kind    Kind
	Name    string         // inline, tool, cascade: the name
	Pattern *regexp.Regexp // regex
	Words   int            // min_words, max_words
	Command string         // command: the template of the command line
}

// LooksAtWorld reports whether the verdict can change while the text stays the same.
func (v Validator) LooksAtWorld() bool { return v.Kind == Command || v.Kind == Tool }

// Parse parses a loop_until. No other validator has the name of a built-in one: named says what another text is the name of, or "".
func Parse(text string, named func(string) Kind) (Validator, error) {
	kind, arg, hasArg := strings.Cut(text, ":")
	switch Kind(kind) {
	case NonEmpty, JSON:
		if hasArg {
			return Validator{}, fmt.Errorf("validator %q takes no argument", kind)
		}
		return Validator{Kind: Kind(kind)}, nil
	case Regex:
		re, err := regexp.Compile(arg)
		if arg == "" {
			err = errors.New("none is given")
		}
		if err != nil {
			return Validator{}, fmt.Errorf("validator %q needs a regular expression: %w", text, err)
		}
		return Validator{Kind: Regex, Pattern: re}, nil
	case MinWords, MaxWords:
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			return Validator{}, fmt.Errorf("validator %q needs a number of words, at least 1, after the colon", text)
		}
		return Validator{Kind: Kind(kind), Words: n}, nil
	case Command:
		if strings.TrimSpace(arg) == "" {
			return Validator{}, fmt.Errorf("validator %q needs a command line after the colon", text)
		}
		return Validator{Kind: Command, Command: arg}, nil
	}
	if kind := named(text); kind != "" {
		return Validator{Kind: kind, Name: text}, nil
	}
	return Validator{}, &UnknownError{Name: text}
}

// UnknownError is a name that stands for no validator.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("no validator named %q", e.Name) }

// Builtins returns the built-in validators as they are written, for messages and schemas.
func Builtins() []string {
	return []string{"non_empty", "json", "regex:PATTERN", "min_words:N", "max_words:N", "command:LINE"}
}

// BuiltinNames returns the names of the built-in validators.
func BuiltinNames() []string {
	names := Builtins()
	for i, v := range names {
		names[i], _, _ = strings.Cut(v, ":")
	}
	return names
}
