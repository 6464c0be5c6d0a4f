// Package verdict reads what validators say, judges texts by a rule, and writes what validators are shown.
package verdict

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/modeltext"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
)

// Read reads what a validator has said: the first object with "valid". ok is false when it has not
// decided.
func Read(text string) (v *echo.Verdict, ok bool) {
	members, ok := modeltext.FirstObject(text, "valid")
	if !ok {
		return nil, false
	}
	valid, ok := truth(members["valid"])
	if !ok {
		return nil, false
	}
	v = &echo.Verdict{Valid: valid}
	if reason, err := modeltext.Decode(members["reason"]); err == nil {
		v.Reason = echo.AsText(reason)
	}
	if !valid && strings.TrimSpace(v.Reason) == "" {
		v.Reason = noReason
	}
	return v, true
}

// noReason stands for the reason of a verdict that has none.
const noReason = "no reason was given"

// truth reads true or false, also where a model has put it in quotes.
func truth(raw json.RawMessage) (is, ok bool) {
	switch strings.ToLower(strings.Trim(string(raw), `"`)) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// ReadWhole is [Read] by rules 1 to 3 of the engine.
func ReadWhole(text string) (v *echo.Verdict, ok bool) {
	raw, ok := modeltext.FindJSON(text)
	if !ok {
		return nil, false
	}
	var in struct {
		Valid  *bool  `json:"valid"`
		Reason string `json:"reason"`
	}
	if json.Unmarshal(raw, &in) != nil || in.Valid == nil {
		return nil, false
	}
	if !*in.Valid && in.Reason == "" {
		in.Reason = noReason
	}
	return &echo.Verdict{Valid: *in.Valid, Reason: in.Reason}, true
}

// Rule is a built-in validator: its rule, whether the text keeps it, else what is wrong. It panics for
// a validator that needs more than the text.
func Rule(ref cascade.Validator, content string) (rule string, valid bool, why string) {
	words := len(strings.Fields(content))
	switch ref.Kind {
	case cascade.ValidatorNonEmpty:
		return "your answer must not be empty", strings.TrimSpace(content) != "", "the answer is empty"
	case cascade.ValidatorJSON:
		_, ok := modeltext.FindJSON(content)
		return "your answer must be one JSON value", ok, "the answer is not one JSON value"
	case cascade.ValidatorRegex:
		return fmt.Sprintf("your answer must match the regular expression %s", ref.Pattern), ref.Pattern.MatchString(content),
			fmt.Sprintf("the answer does not match the regular expression %s", ref.Pattern)
	case cascade.ValidatorMinWords:
		return fmt.Sprintf("your answer must have at least %d words", ref.Words), words >= ref.Words,
			fmt.Sprintf("the answer has %s, at least %d are needed", quantity.Of(words, "word"), ref.Words)
	case cascade.ValidatorMaxWords:
		return fmt.Sprintf("your answer must have at most %d words", ref.Words), words <= ref.Words,
			fmt.Sprintf("the answer has %s, at most %d are allowed", quantity.Of(words, "word"), ref.Words)
	default:
		panic("verdict: validator " + string(ref.Kind) + " needs more than the text")
	}
}

// KeepNamed removes the values that the JSON Schema of an object does not name, unless it names none.
func KeepNamed(schema json.RawMessage, values map[string]any) error {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return err
	}
	if len(s.Properties) > 0 {
		maps.DeleteFunc(values, func(name string, _ any) bool {
			_, known := s.Properties[name]
			return !known
		})
	}
	return nil
}

// Images returns the images of a message.
func Images(m *echo.Message) []echo.Part {
	return slices.DeleteFunc(slices.Clone(m.Parts()), func(p echo.Part) bool { return p.Type != echo.PartImage })
}

// The most that a validator sees of what tools answered in a turn, in bytes.
const (
	shownResult  = 8_000
	shownResults = 64_000
)

// Content returns what validators see of an answer: its text, and the results of the tools that it called.
func Content(text string, results []*echo.Message) string {
	var parts []string
	if strings.TrimSpace(text) != "" {
		parts = append(parts, text)
	}
	size := 0
	for i, m := range results {
		if size >= shownResults {
			parts = append(parts, fmt.Sprintf("[%s left out]", quantity.Of(len(results)-i, "more result")))
			break
		}
		failed := ""
		if m.Failed() {
			failed = ", which failed"
		}
		result := excerpt.Clip(m.Text(), shownResult)
		size += len(result)
		parts = append(parts, fmt.Sprintf("[Result of %s%s]\n%s", m.Tool(), failed, result))
	}
	return strings.Join(parts, "\n\n")
}
