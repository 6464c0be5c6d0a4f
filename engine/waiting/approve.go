package waiting

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
)

// Verdict is what a person says of a call.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow" // it runs as it was shown
	Deny  Verdict = "deny"  // it does not run; the model is told the reason
	Edit  Verdict = "edit"  // it runs with other arguments
)

// Decision is the answer to an approval.
type Decision struct {
	Verdict   Verdict         `json:"decision"`
	Reason    string          `json:"reason,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // of an edit: canonical JSON
}

// Needs reports whether the name of a tool matches one of the patterns of "approve", in which * stands for
// any characters, and all others for themselves.
func Needs(patterns []string, tool string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(strings.Split(p, "*"), tool) })
}

// matches reports whether a name has parts one after the other, with anything between them.
func matches(parts []string, name string) bool {
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}

// Canonical returns the JSON of arguments as it is shown and run: members sorted, without white space. Numbers
// keep their digits.
func Canonical(args json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("read arguments: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read arguments: something follows the JSON value")
	}
	return encoded(value)
}

func encoded(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("encode arguments: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// Approval returns the wait for approval of a call with canonical arguments.
func Approval(call echo.AwaitedCall) echo.Wait {
	return echo.Wait{
		Kind: echo.WaitApproval, Call: &call, Shown: call.Hash(),
		Form: &echo.Form{Kind: echo.FormApproval, Question: fmt.Sprintf("May %s run with these arguments?", call.Tool)},
	}
}

// Decide returns the decision that a value is on a call. fits says why arguments do not fit the tool, "" when
// they do. The error is a [*FormError].
func Decide(value any, fits func(json.RawMessage) (string, error)) (*Decision, error) {
	if s, ok := value.(string); ok {
		value = map[string]any{"decision": s}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, &FormError{Why: err.Error()}
	}
	var d Decision
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return nil, &FormError{Why: `the answer is {"decision": "allow"}, {"decision": "deny", "reason": "..."} or {"decision": "edit", "arguments": {...}}`}
	}
	switch {
	case d.Verdict != Allow && d.Verdict != Deny && d.Verdict != Edit:
		return nil, &FormError{Why: fmt.Sprintf("the decision is %q: it is allow, deny or edit", d.Verdict)}
	case len(d.Reason) > MaxText:
		return nil, &FormError{Why: fmt.Sprintf("the reason has %d bytes, at most %d are taken", len(d.Reason), MaxText)}
	case d.Verdict != Edit && len(d.Arguments) > 0:
		return nil, &FormError{Why: fmt.Sprintf("only an edit has arguments, and the decision is %s", d.Verdict)}
	case d.Verdict != Edit:
		d.Reason = strings.ToValidUTF8(d.Reason, "\uFFFD")
		return &d, nil
	case len(d.Arguments) == 0:
		return nil, &FormError{Why: "an edit needs arguments"}
	}
	if d.Arguments, err = Canonical(d.Arguments); err != nil {
		return nil, &FormError{Why: err.Error()}
	}
	problem, err := fits(d.Arguments)
	switch {
	case err != nil:
		return nil, err
	case problem != "":
		return nil, &FormError{Why: problem}
	}
	return &d, nil
}

// Denies reports whether a value that is a decision denies the call.
func Denies(value any) bool {
	d, err := Decide(value, func(json.RawMessage) (string, error) { return "", nil })
	return err == nil && d.Verdict == Deny
}

// Value returns the decision as it is recorded.
func (d *Decision) Value() any {
	out := map[string]any{"decision": string(d.Verdict)}
	if d.Reason != "" {
		out["reason"] = d.Reason
	}
	if d.Arguments != nil {
		out["arguments"] = d.Arguments
	}
	return out
}

// Allows reports whether a value that is a decision allows the call as it was shown.
func Allows(value any) bool {
	d, err := Decide(value, func(json.RawMessage) (string, error) { return "", nil })
	return err == nil && d.Verdict == Allow
}

// Readable reports whether a person who is shown arguments sees all that runs: a JSON object without anything that is
// masked, hidden or no text. An earlier approval counts for no others.
func Readable(args json.RawMessage) bool {
	var object map[string]any
	if json.Unmarshal(args, &object) != nil || object == nil || !utf8.Valid(args) {
		return false
	}
	return readable(object)
}

func readable(value any) bool {
	switch v := value.(type) {
	case string:
		return !strings.Contains(v, maskedMark) && !strings.ContainsFunc(v, isUnread)
	case []any:
		return !slices.ContainsFunc(v, func(x any) bool { return !readable(x) })
	case map[string]any:
		for name, x := range v {
			if !readable(name) || !readable(x) {
				return false
			}
		}
	}
	return true
}

// isUnread reports whether a character of a text is not read as itself. Line ends and spaces are.
func isUnread(r rune) bool {
	return !isSeen(r) && r != '\n' && r != '\t' && r != '\r' && !unicode.Is(unicode.Zs, r)
}

// IsPlain reports whether a text is one line whose characters can be seen: a person types it.
func IsPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return isUnread(r) || r == '\n' || r == '\t' || r == '\r' })
}
