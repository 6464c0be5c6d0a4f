package waiting

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// MaxText is how long the text of an answer may be, in bytes.
const MaxText = 256 << 10

// FormError says why a value does not answer a form.
type FormError struct {
	Field string // of a form with fields; "": the whole
	Why   string // a sentence without its end
}

func (e *FormError) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("the field %q: %s", e.Field, e.Why)
	}
	return e.Why
}

// Check returns a value that answers a form, as it is recorded. value is one that came from JSON, whose
// numbers may be [json.Number]; a text is also taken as the boolean or the number that it is. The error is a
// [*FormError].
func Check(f *echo.Form, value any) (any, error) {
	switch f.Kind { //nolint:exhaustive // the others are those of fields
	case echo.FormFields:
		return checkFields(f, value)
	case echo.FormCandidates:
		return checkChoice(f.Choose, value)
	}
	if m, ok := value.(map[string]any); ok && f.Feedback {
		return checkFeedback(f, m)
	}
	one := echo.Field{Kind: f.Kind, Options: f.Options, Most: f.Most, Required: true}
	return checkField(&one, f.Custom, value)
}

func checkFields(f *echo.Form, value any) (any, error) {
	given, ok := value.(map[string]any)
	if !ok {
		return nil, &FormError{Why: "the answer is an object with a value for each field: " + fieldNames(f.Fields)}
	}
	for name := range given {
		if !slices.ContainsFunc(f.Fields, func(x echo.Field) bool { return x.Name == name }) {
			return nil, &FormError{Field: name, Why: "the form has no such field; it has " + fieldNames(f.Fields)}
		}
	}
	out := map[string]any{}
	for i := range f.Fields {
		x := &f.Fields[i]
		v, has := given[x.Name]
		if !has || v == nil || v == "" {
			if x.Required {
				return nil, &FormError{Field: x.Name, Why: "it is required"}
			}
			continue
		}
		checked, err := checkField(x, false, v)
		if err != nil {
			return nil, &FormError{Field: x.Name, Why: err.Error()}
		}
		out[x.Name] = checked
	}
	return out, nil
}

func checkField(x *echo.Field, custom bool, value any) (any, error) {
	switch x.Kind {
	case echo.FormConfirmation:
		return confirmed(value)
	case echo.FormChoice:
		return chosen(x.Options, custom, value)
	case echo.FormMultiChoice:
		return chosenSeveral(x.Options, value)
	case echo.FormRating:
		return rated(x.Most, value)
	case echo.FormText:
		return written(value)
	case echo.FormReview:
		return reviewed(value)
	case echo.FormApproval, echo.FormFields, echo.FormCandidates:
	}
	return nil, &FormError{Why: fmt.Sprintf("a form of the kind %q is not answered this way", x.Kind)}
}

func confirmed(value any) (any, error) {
	if b, ok := value.(bool); ok {
		return b, nil
	}
	if s, ok := value.(string); ok {
		switch strings.ToLower(strings.TrimSpace(s)) {
		case "true", "yes", "y":
			return true, nil
		case "false", "no", "n":
			return false, nil
		}
	}
	return nil, &FormError{Why: "the answer is yes or no"}
}

func chosen(options []echo.Option, custom bool, value any) (any, error) {
	s, ok := value.(string)
	if ok && isOption(options, s) {
		return s, nil
	}
	if ok && custom && strings.TrimSpace(s) != "" {
		return written(value)
	}
	return nil, &FormError{Why: "the answer is one of the options: " + optionIDs(options)}
}

func isOption(options []echo.Option, id string) bool {
	return slices.ContainsFunc(options, func(o echo.Option) bool { return o.ID == id })
}

func chosenSeveral(options []echo.Option, value any) (any, error) {
	var given []any
	switch v := value.(type) {
	case []any:
		given = v
	case string: // as a person types them
		if isOption(options, v) {
			return []any{v}, nil // whose id has a comma, perhaps
		}
		for s := range strings.SplitSeq(v, ",") {
			given = append(given, strings.TrimSpace(s))
		}
	}
	if len(given) == 0 {
		return nil, &FormError{Why: "the answer is a list of options: " + optionIDs(options)}
	}
	var out []any
	for _, g := range given {
		id, err := chosen(options, false, g)
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, id) {
			return nil, &FormError{Why: fmt.Sprintf("%q is chosen twice", id)}
		}
		out = append(out, id)
	}
	return out, nil
}

func rated(most int, value any) (any, error) {
	var text string
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.TrimSpace(v)
	case float64, int:
		text = fmt.Sprint(v)
	}
	for n := 1; n <= most; n++ {
		if text == fmt.Sprint(n) {
			return json.Number(text), nil
		}
	}
	return nil, &FormError{Why: fmt.Sprintf("the answer is a whole number from 1 to %d", most)}
}

func written(value any) (any, error) {
	s, ok := value.(string)
	switch {
	case !ok || strings.TrimSpace(s) == "":
		return nil, &FormError{Why: "the answer is a text that is not empty"}
	case len(s) > MaxText:
		return nil, &FormError{Why: fmt.Sprintf("the text has %d bytes, at most %d are taken", len(s), MaxText)}
	}
	return strings.ToValidUTF8(s, "\uFFFD"), nil
}

func reviewed(value any) (any, error) {
	m, ok := value.(map[string]any)
	if !ok {
		b, err := confirmed(value)
		if err != nil {
			return nil, &FormError{Why: `the answer is {"approved": true or false, "feedback": "..."}`}
		}
		return map[string]any{"approved": b}, nil
	}
	approved, ok := m["approved"].(bool)
	if !ok {
		return nil, &FormError{Why: `"approved" is true or false`}
	}
	out := map[string]any{"approved": approved}
	for name, v := range m {
		switch name {
		case "approved":
		case "feedback":
			s, ok := v.(string)
			if !ok || len(s) > MaxText {
				return nil, &FormError{Why: fmt.Sprintf(`"feedback" is a text of at most %d bytes`, MaxText)}
			}
			out["feedback"] = strings.ToValidUTF8(s, "\uFFFD")
		default:
			return nil, &FormError{Why: fmt.Sprintf("a review has no %q", name)}
		}
	}
	return out, nil
}

func optionIDs(options []echo.Option) string {
	ids := make([]string, len(options))
	for i, o := range options {
		ids[i] = o.ID
	}
	return strings.Join(ids, ", ")
}

func fieldNames(fields []echo.Field) string {
	names := make([]string, len(fields))
	for i, x := range fields {
		names[i] = x.Name
	}
	return strings.Join(names, ", ")
}
