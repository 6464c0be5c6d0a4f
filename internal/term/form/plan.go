package form

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/waits"
)

// part is one thing that a person says, such as a field of a form.
type part struct {
	name     string // what is asked; "": the form says it
	input    input
	optional bool
	checks   func(value any) error                                            // nil: a value is enough
	lines    func(width int, paint func(term.Colour, string) string) []string // in place of what is asked; nil: none
	enter    string                                                           // what Enter does; "": the form says it
}

// check returns why the value is none; "": it is one.
func (p *part) check() string {
	v := p.input.value()
	switch {
	case v == nil && p.optional:
		return ""
	case v == nil:
		return "an answer is needed"
	case p.checks == nil:
		return ""
	}
	if err := p.checks(v); err != nil {
		return err.Error()
	}
	return ""
}

func (p *part) show(width, height int, paint func(term.Colour, string) string) []string {
	if p.name == "" {
		return p.input.show(width, height, paint)
	}
	out := []string{paint(term.Bold, cut(p.name, width))}
	return append(out, p.input.show(width, max(height-1, 1), paint)...)
}

// hint says which keys do what.
func (p *part) hint(first bool, words wording) string {
	parts := []string{p.input.keys(cmp.Or(p.enter, words.answers))}
	if p.optional {
		parts = append(parts, "Tab leaves it out")
	}
	switch {
	case !first:
		parts = append(parts, "Esc goes back")
	case p.input.writes() || !words.letter:
		parts = append(parts, "Esc "+words.leaves)
	default:
		parts = append(parts, "l "+words.leaves)
	}
	return strings.Join(parts, "  ")
}

// plan is the way through the parts of a form.
type plan struct {
	next   func(values []any) *part // the part after these values; nil: there is none
	answer func(values []any) Answer
}

// planOf returns the plan of a wait; one without parts for what nobody answers.
func planOf(w *waits.Wait) plan {
	switch {
	case w.Kind == echo.WaitApproval:
		return approval(w)
	case w.Form == nil:
		return plan{next: func([]any) *part { return nil }}
	}
	check := func(v any) error { _, err := waits.Check(w, v); return err }
	switch f := w.Form; f.Kind { //nolint:exhaustive // the others are those of fields
	case echo.FormFields:
		return fields(f)
	case echo.FormReview:
		return review(check)
	case echo.FormCandidates:
		return choose(f.Choose)
	default:
		return single(f, check)
	}
}

// inputOf returns the input of a field.
func inputOf(x *echo.Field) input {
	switch x.Kind { //nolint:exhaustive // the others are texts
	case echo.FormConfirmation:
		return newPicker([]item{{value: true, label: "yes", hot: 'y'}, {value: false, label: "no", hot: 'n'}}, false)
	case echo.FormChoice, echo.FormMultiChoice:
		items := make([]item, len(x.Options))
		for i, o := range x.Options {
			items[i] = item{value: o.ID, label: labelOf(o)}
		}
		return newPicker(items, x.Kind == echo.FormMultiChoice)
	case echo.FormRating:
		return &rater{most: x.Most}
	}
	return &editor{}
}

// own is the value of the choice to write something else.
type own struct{}

// single is a form of one part; a choice that takes a text of one's own has another for that.
func single(f *echo.Form, check func(any) error) plan {
	first := func() *part {
		return &part{input: inputOf(&echo.Field{Kind: f.Kind, Options: f.Options, Most: f.Most}), checks: check}
	}
	custom := f.Custom && f.Kind == echo.FormChoice
	return plan{
		next: func(values []any) *part {
			switch {
			case len(values) == 0 && custom:
				p := first()
				list := p.input.(*picker) //nolint:forcetypeassert // that of a choice
				*list = *newPicker(append(list.items, item{value: own{}, label: "something else ..."}), false)
				p.checks = nil
				return p
			case len(values) == 0:
				return first()
			case len(values) == 1 && values[0] == own{}:
				return &part{name: "Something else", input: &editor{}, checks: check}
			}
			return nil
		},
		answer: func(values []any) Answer { return Answer{Value: values[len(values)-1]} },
	}
}

func fields(f *echo.Form) plan {
	return plan{
		next: func(values []any) *part {
			if len(values) == len(f.Fields) {
				return nil
			}
			x := &f.Fields[len(values)]
			name := x.Name
			if x.Label != "" {
				name = x.Label
			}
			one := &echo.Form{Kind: x.Kind, Options: x.Options, Most: x.Most}
			return &part{name: name, input: inputOf(x), optional: !x.Required, checks: func(v any) error { _, err := waiting.Check(one, v); return err }}
		},
		answer: func(values []any) Answer {
			out := map[string]any{}
			for i := range f.Fields {
				if values[i] != nil {
					out[f.Fields[i].Name] = values[i]
				}
			}
			return Answer{Value: out}
		},
	}
}

func review(check func(any) error) plan {
	answer := func(values []any) Answer {
		out := map[string]any{"approved": values[0]}
		if len(values) > 1 && values[1] != nil {
			out["feedback"] = values[1]
		}
		return Answer{Value: out}
	}
	return plan{
		next: func(values []any) *part {
			switch len(values) {
			case 0:
				return &part{input: newPicker([]item{{value: true, label: "yes, it is approved", hot: 'y'}, {value: false, label: "no", hot: 'n'}}, false)}
			case 1:
				return &part{name: "Feedback", input: &editor{}, optional: true, checks: func(v any) error { return check(answer([]any{values[0], v}).Value) }}
			}
			return nil
		},
		answer: answer,
	}
}

// choose is a choice among candidates.
func choose(c *echo.Choose) plan {
	parts, member := 1, "winner"
	first := func(int) *part { return &part{input: newPicker(labels(waiting.Winners(c)), false)} }
	switch c.Mode {
	case echo.ChooseRank:
		member = "ranking"
		first = func(int) *part {
			return &part{input: &ranker{picker: *newPicker(labels(waiting.Labels(c)), false)}, checks: func(v any) error { return ranks(c, v) }}
		}
	case echo.ChooseRate:
		parts, member = len(c.Candidates), "ratings"
		first = func(i int) *part {
			return &part{name: "How good is " + c.Candidates[i].Label + "?", input: &rater{most: waiting.DefaultMost}}
		}
	case echo.ChooseOne:
	}
	return plan{
		next: func(values []any) *part {
			switch {
			case len(values) < parts:
				return first(len(values))
			case len(values) == parts && c.Reason:
				return &part{name: "Why?", input: &editor{}}
			}
			return nil
		},
		answer: func(values []any) Answer {
			out := map[string]any{member: values[0]}
			if c.Mode == echo.ChooseRate {
				rated := map[string]any{}
				for i, label := range waiting.Labels(c) {
					rated[label] = values[i]
				}
				out[member] = rated
			}
			if len(values) > parts {
				out["why"] = values[parts]
			}
			return Answer{Value: out}
		},
	}
}

func ranks(c *echo.Choose, v any) error {
	if list, _ := v.([]any); len(list) < len(c.Candidates) {
		return errors.New("every candidate has a rank")
	}
	return nil
}

// labels are items that are chosen by their first letter, where that is of one alone.
func labels(names []string) []item {
	out := make([]item, len(names))
	for i, name := range names {
		out[i] = item{value: name, label: name}
		hot := []rune(strings.ToLower(name))[0]
		if !slices.ContainsFunc(out[:i], func(x item) bool { return x.hot == hot }) && hot >= 'a' && hot <= 'z' && hot != 'l' && len([]rune(name)) == 1 {
			out[i].hot, out[i].label = hot, name
		}
	}
	return out
}

// What can be decided on a call.
const (
	allow        = "allow"
	allowSession = "allow session"
	allowCascade = "allow cascade"
	deny         = "deny"
	edit         = "edit"
)

// approval decides on a call. An edit is shown against what was asked before it is sent.
func approval(w *waits.Wait) plan {
	tool := term.OneLine(w.Call.Tool)
	choices := []item{
		{value: allow, label: "allow this call", hot: 'a', sure: true},
		{value: allowSession, label: "allow it, and later calls of " + tool + " in this session", hot: 's', sure: true},
		{value: allowCascade, label: "allow it, and later calls of " + tool + " by this cascade in every session", hot: 'c', sure: true},
		{value: deny, label: "deny it", hot: 'd'},
		{value: edit, label: "edit the arguments", hot: 'e'},
	}
	return plan{
		next: func(values []any) *part {
			switch {
			case len(values) == 0:
				list := newPicker(choices, false)
				list.none = true // a key that was meant for something else allows nothing
				return &part{input: list}
			case len(values) == 1 && values[0] == deny:
				return &part{name: "Why? The model is told.", input: &editor{}, optional: true, checks: func(v any) error {
					_, err := waits.Check(w, decision(deny, "reason", v))
					return err
				}}
			case len(values) == 1 && values[0] == edit:
				e := &editor{code: true}
				e.insert(waiting.Visible(w.Call.Arguments))
				e.at = 0
				return &part{name: "Arguments", input: e, checks: func(v any) error { return editable(w, v) }}
			case len(values) == 2 && values[0] == edit:
				return &part{input: newPicker([]item{{value: true, label: "run " + tool + " with these arguments", hot: 'y'}}, false), lines: func(width int, paint func(term.Colour, string) string) []string {
					return changes(w, values[1], width, paint)
				}}
			}
			return nil
		},
		answer: decided,
	}
}

// decided is the answer that the parts of an approval are.
func decided(values []any) Answer {
	switch values[0] {
	case allowSession:
		return Answer{Value: decision(allow, "", nil), Grant: echo.GrantSession}
	case allowCascade:
		return Answer{Value: decision(allow, "", nil), Grant: echo.GrantCascade}
	case deny:
		return Answer{Value: decision(deny, "reason", values[1])}
	case edit:
		args, _ := parsed(values[1]) // it was checked
		return Answer{Value: decision(edit, "arguments", args)}
	}
	return Answer{Value: decision(allow, "", nil)}
}

func decision(verdict, member string, v any) map[string]any {
	out := map[string]any{"decision": verdict}
	if v != nil {
		out[member] = v
	}
	return out
}

// parsed returns the JSON value that a text is.
func parsed(text any) (any, error) {
	s, _ := text.(string)
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, errors.New("the arguments are no JSON: " + err.Error())
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the arguments are more than one JSON value")
	}
	return v, nil
}

func editable(w *waits.Wait, text any) error {
	args, err := parsed(text)
	if err != nil {
		return err
	}
	if args == nil {
		return errors.New("an edit needs arguments")
	}
	_, err = waits.Accept(w, decision(edit, "arguments", args))
	return err
}

// changes returns the lines of what an edit changes.
func changes(w *waits.Wait, text any, width int, paint func(term.Colour, string) string) []string {
	args, err := parsed(text)
	if err != nil {
		return nil
	}
	diff := term.Diff(waiting.Visible(w.Call.Arguments), waiting.Visible(waits.Edited(w, decision(edit, "arguments", args))))
	if diff == nil {
		return []string{"The arguments are as they were."}
	}
	out := []string{cut("The edit changes the arguments of "+w.Call.Tool+":", width)}
	colours := map[byte]term.Colour{'+': term.Green, '-': term.Red}
	for _, line := range diff[1:] { // the first one has numbers of lines
		colour, painted := colours[line[0]]
		for _, row := range divide(term.Clean(line), width) {
			if painted {
				row = paint(colour, row)
			}
			out = append(out, row)
		}
	}
	return out
}

func asJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // what came from JSON is JSON
	}
	return text
}
