package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/waits"
)

// The names of what the forms send.
const (
	nameAnswer    = "answer"
	nameCustom    = "custom" // a text in place of an option
	nameWhy       = "why"
	nameFeedback  = "feedback"
	nameReason    = "reason"
	nameScope     = "scope"
	nameArguments = "arguments"
	nameStep      = "step"
	nameShown     = "shown"
	nameToken     = "token"
	prefixField   = "field."
	prefixRank    = "rank."
	prefixRate    = "rate."
)

// given returns the value that a filled-in form says, and for what an approval counts.
func given(w *waits.Wait, in url.Values) (value any, scope echo.GrantScope, err error) {
	if err := checkOnce(w.Form, in); err != nil {
		return nil, "", err
	}
	if value, err = valueOf(w, in); err != nil {
		return nil, "", err
	}
	if scope, err = scopeOf(in); in.Get(nameAnswer) != string(waiting.Allow) {
		scope = ""
	}
	return value, scope, err
}

// checkOnce refuses a form that says a thing twice where only one can be meant.
func checkOnce(f *echo.Form, in url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(in)) {
		several := name == nameAnswer && f.Kind == echo.FormMultiChoice ||
			slices.ContainsFunc(f.Fields, func(x echo.Field) bool { return x.Kind == echo.FormMultiChoice && name == prefixField+x.Name })
		if len(in[name]) > 1 && !several {
			return &waiting.FormError{Why: fmt.Sprintf("the form says %q %d times", name, len(in[name]))}
		}
	}
	return nil
}

// valueOf returns the value that a filled-in form says, which nobody has checked. The error is for the person.
func valueOf(w *waits.Wait, in url.Values) (any, error) {
	switch w.Form.Kind { //nolint:exhaustive // the others are one value
	case echo.FormApproval:
		return decisionOf(in)
	case echo.FormReview:
		review := map[string]any{"approved": in.Get(nameAnswer) == "yes"}
		if in.Get(nameAnswer) == "" {
			return nil, &waiting.FormError{Why: "say whether it is right"}
		}
		if text := normal(in.Get(nameFeedback)); strings.TrimSpace(text) != "" {
			review["feedback"] = text
		}
		return review, nil
	case echo.FormFields:
		fields := map[string]any{}
		for _, f := range w.Form.Fields {
			if v := one(f.Kind, in, prefixField+f.Name); v != nil {
				fields[f.Name] = v
			}
		}
		return fields, nil
	case echo.FormCandidates:
		return choiceOf(w.Form.Choose, in), nil
	}
	if w.Form.Custom && w.Form.Kind == echo.FormChoice && strings.TrimSpace(in.Get(nameCustom)) != "" {
		if in.Get(nameAnswer) != "" {
			return nil, &waiting.FormError{Why: "an option is chosen and a text is written: only one of them can be the answer"}
		}
		return normal(in.Get(nameCustom)), nil
	}
	if v := one(w.Form.Kind, in, nameAnswer); v != nil {
		return v, nil
	}
	return nil, &waiting.FormError{Why: "nothing is chosen or written yet"}
}

// one returns the value of one control, nil when it has none.
func one(kind echo.FormKind, in url.Values, name string) any {
	if kind == echo.FormMultiChoice {
		var out []any
		for _, id := range in[name] {
			out = append(out, id)
		}
		if out == nil {
			return nil
		}
		return out
	}
	v := normal(in.Get(name))
	if v == "" {
		return nil
	}
	return v
}

// normal returns a text of a form with line ends as everywhere else.
func normal(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// choiceOf returns what is chosen among candidates.
func choiceOf(c *echo.Choose, in url.Values) any {
	out := map[string]any{}
	switch c.Mode {
	case echo.ChooseRank:
		ranking := make([]any, len(c.Candidates))
		for _, x := range c.Candidates {
			for i := range ranking {
				if in.Get(prefixRank+x.Label) == strconv.Itoa(i+1) {
					ranking[i] = x.Label
				}
			}
		}
		out["ranking"] = ranking
	case echo.ChooseRate:
		ratings := map[string]any{}
		for _, x := range c.Candidates {
			if v := in.Get(prefixRate + x.Label); v != "" {
				ratings[x.Label] = v
			}
		}
		out["ratings"] = ratings
	case echo.ChooseOne:
		if v := in.Get(nameAnswer); v != "" {
			out["winner"] = v
		}
	}
	if why := normal(in.Get(nameWhy)); strings.TrimSpace(why) != "" {
		out["why"] = why
	}
	return out
}

// decisionOf returns what is decided on a call.
func decisionOf(in url.Values) (any, error) {
	d := map[string]any{"decision": in.Get(nameAnswer)}
	switch waiting.Verdict(in.Get(nameAnswer)) {
	case waiting.Deny:
		if reason := normal(in.Get(nameReason)); strings.TrimSpace(reason) != "" {
			d["reason"] = reason
		}
	case waiting.Edit:
		args, err := decoded(in.Get(nameArguments))
		if err != nil {
			return nil, err
		}
		d["arguments"] = args
	case waiting.Allow:
	default:
		return nil, &waiting.FormError{Why: "say whether the call may run"}
	}
	return d, nil
}

// decoded returns the one JSON value that a text is. Numbers keep their digits.
func decoded(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, &waiting.FormError{Why: "the arguments are not JSON: " + err.Error()}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, &waiting.FormError{Why: "the arguments are not one JSON value: something follows it"}
	}
	return value, nil
}

// scopeOf returns for what an approval counts.
func scopeOf(in url.Values) (echo.GrantScope, error) {
	switch s := echo.GrantScope(in.Get(nameScope)); s {
	case "", echo.GrantSession, echo.GrantCascade:
		return s, nil
	}
	return "", &waiting.FormError{Why: "an approval counts for this call, this session or this cascade"}
}
