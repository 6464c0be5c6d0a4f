// Package withheld has the values of a run as texts for models see them: what comes from an answer that a person has taken out of
// the views of the session is not in them. The values themselves stay: conditions, routes and validators go by them.
package withheld

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/modeltext"
	"github.com/windlass-run/windlass/engine/standing"
)

// Text stands for each text of a value that is withheld.
const Text = "[dropped]"

// Rules is the number of the rules of the engine since which values are withheld.
const Rules = 7

// shortest is the length from which a text is taken for a copy of an answer wherever it is: "yes" is what many say.
const shortest = 20

// Values are those of a session that come from answers which persons have taken out of its views. The goroutine of the session uses
// them.
type Values struct {
	session *echo.Session
	outputs []any             // of visits, and of elements of lists, whose answers are out
	set     map[string][]any  // what answers that are out have set of the state, by name
	said    []string          // texts of answers and results that are out
	asked   []string          // other texts of messages that are out
	kept    map[saying]bool   // texts of messages that are in view
	lists   map[string]string // answers that were put together from those of the elements of lists, without those that are out
	long    []string          // see [Values.texts]; nil: not gathered yet
	again   []string          // see [Values.textsTold]; nil: not gathered yet
	places  map[place]bool    // see [Values.findPlaces]; nil: not found yet
}

// Of returns what is withheld of a session as it is now; nil: nothing is.
func Of(s *echo.Session) *Values {
	if s == nil || s.KeepsValues || s.Withdrawals.Whole() {
		return nil
	}
	v := &Values{session: s, set: map[string][]any{}, lists: map[string]string{}, kept: map[saying]bool{}}
	v.addPeople()
	for _, visit := range s.Phases {
		out := v.out(visit)
		if v.outputs = append(v.outputs, out...); len(out) > 0 {
			if _, isList := visit.Output.([]any); isList {
				v.lists[visit.Text()] = echo.AsText(v.Output(visit))
			}
		}
		for _, it := range s.Marked(visit) {
			switch {
			case it.Withdrawn != echo.InView:
				v.addSet(it.Message)
				v.addSaid(it.Message)
			case !tellsAgain(it.Message):
				v.keep(it.Message)
			}
		}
	}
	return v
}

// out returns what is out of the output of a visit: the whole, or of a list the elements whose answers are.
func (v *Values) out(visit *echo.PhaseRecord) []any {
	if visit.Output == nil {
		return nil
	}
	if at := Answer(v.session, visit); at != nil && at.Withdrawn != echo.InView {
		return []any{visit.Output}
	}
	parts, _ := visit.Output.([]any)
	var out []any
	for _, it := range v.session.Marked(visit) {
		if len(parts) == 0 || it.Withdrawn == echo.InView || !IsAnswer(it.Message) {
			continue
		}
		for _, p := range parts {
			if is(p, it.Message.Text()) {
				out = append(out, p)
			}
		}
	}
	return out
}

// is reports whether a value is that of an answer with a text.
func is(value any, text string) bool {
	if s, ok := value.(string); ok {
		s = strings.TrimSpace(s)
		return s == strings.TrimSpace(text) || slices.ContainsFunc(notes, func(on continuity.InForce) bool { return s == strings.TrimSpace(standing.Visible(text, on)) })
	}
	raw, ok := modeltext.FindJSON(text)
	if !ok {
		return false
	}
	read, err := modeltext.Decode(raw)
	return err == nil && reflect.DeepEqual(read, value)
}

// notes are what an answer may have of its own besides what its output has, see [standing.Visible].
var notes = []continuity.InForce{{Scratchpad: true}, {StateBlock: true}, {Scratchpad: true, StateBlock: true}}

// setState is the tool by which a model sets a value of the state.
const setState = "set_state"

// addSet adds what an answer has set: by calls, and of what stands by its words.
func (v *Values) addSet(m *echo.Message) {
	if m.Role() != echo.RoleAssistant {
		return
	}
	add := func(name string, value any) { v.set[name] = append(v.set[name], value) }
	for _, call := range m.ToolCalls() {
		var in struct {
			Key   string `json:"key"`
			Value any    `json:"value"`
			Text  string `json:"text"`
		}
		dec := json.NewDecoder(strings.NewReader(call.Arguments))
		dec.UseNumber()
		if dec.Decode(&in) != nil {
			continue
		}
		switch call.Name {
		case setState:
			add(in.Key, in.Value)
		case standing.Scratchpad:
			add(standing.Scratchpad, in.Text)
		}
	}
	scratchpad, state, hasScratchpad, hasState := standing.In(m.Text())
	if hasScratchpad {
		add(standing.Scratchpad, scratchpad)
	}
	if hasState {
		add(standing.StateBlock, state)
	}
}

// saying is a text that an answer or a tool says, or that is said to the model.
type saying struct {
	answer bool
	text   string
}

// keep has what a message says, which is in view, not be withheld on account of another one that says the same.
func (v *Values) keep(m *echo.Message) {
	v.kept[saying{IsAnswer(m), m.Text()}] = true
	for _, c := range m.ToolCalls() {
		v.kept[saying{false, c.Arguments}] = true
	}
}

// unkept returns those of texts that no message in view says.
func (v *Values) unkept(answer bool, texts []string) (out []any) {
	for _, text := range texts {
		if !v.kept[saying{answer, text}] {
			out = append(out, text)
		}
	}
	return out
}

// addSaid adds what a message says: of an answer also without what stands.
func (v *Values) addSaid(m *echo.Message) {
	switch {
	case tellsAgain(m):
	case IsAnswer(m):
		v.said = append(v.said, m.Text(), standing.Visible(m.Text(), continuity.InForce{Scratchpad: true, StateBlock: true}))
		for _, c := range m.ToolCalls() {
			v.asked = append(v.asked, c.Arguments)
		}
	default:
		v.asked = append(v.asked, m.Text())
	}
}

// Output returns the output of a visit of the session: without its texts where the answer that it is was taken out. What the phase
// has answered itself is its own, also where it is the same as what was taken out elsewhere.
func (v *Values) Output(visit *echo.PhaseRecord) any {
	if v == nil || visit.Output == nil {
		return visit.Output
	}
	at, out := Answer(v.session, visit), v.out(visit)
	parts, isList := visit.Output.([]any)
	switch {
	case at == nil:
		return v.Copy(visit.Output)
	case at.Withdrawn != echo.InView:
		return Blank(visit.Output)
	case !isList || len(out) == 0:
		return visit.Output
	}
	parts = slices.Clone(parts)
	for i := range parts {
		if has(out, parts[i]) {
			parts[i] = Blank(parts[i])
		}
	}
	return parts
}

// StateOfAll returns the state of a session as it may be told: a map of its own.
func StateOfAll(s *echo.Session) map[string]any {
	if v := Of(s); v != nil {
		return v.State()
	}
	return maps.Clone(s.State)
}

// Left reports whether a value is that of the state without what is withheld of it.
func (v *Values) Left(name string, value any) bool {
	if v == nil {
		return false
	}
	real, ok := v.session.State[name]
	return ok && !reflect.DeepEqual(real, value) && reflect.DeepEqual(v.StateOf(name), value)
}

// State returns the state of the session.
func (v *Values) State() map[string]any {
	out := make(map[string]any, len(v.session.State))
	for name := range v.session.State {
		out[name] = v.StateOf(name)
	}
	return out
}

// StateOf returns a value of the state of a session, see [Values.StateOf].
func StateOf(s *echo.Session, name string) any {
	if v := Of(s); v != nil {
		return v.StateOf(name)
	}
	return s.State[name]
}

// StateOf returns a value of the state: without its texts where an answer that is out has set it, or is it.
func (v *Values) StateOf(name string) any {
	value, is := v.session.State[name]
	if !is {
		return nil
	}
	phase, isOutput := strings.CutPrefix(name, cascade.StateOutputPrefix)
	if last := v.session.Last(phase); isOutput && last != nil && reflect.DeepEqual(value, last.Output) {
		return v.Output(last)
	}
	if has(v.set[name], value) || name == cascade.StateValidatedOutput && has(v.outputs, value) {
		return Blank(value)
	}
	if text, ok := value.(string); ok && (name == standing.Scratchpad || name == standing.StateBlock) {
		return without(text, v.texts()) // the rest of it is of others
	}
	return v.Copy(value)
}

// Copy returns a value of elsewhere without what is an output that is withheld.
func (v *Values) Copy(value any) any {
	return v.replace(value, func(s string) bool { return len(s) >= shortest && has(v.outputs, s) })
}

// Part returns a value that was made from outputs and state, such as an element of a list: without its texts that are
// in what is withheld.
func (v *Values) Part(value any) any {
	return v.replace(value, func(s string) bool {
		for _, from := range v.outputs {
			if contains(from, s) {
				return true
			}
		}
		for _, set := range v.set {
			for _, from := range set {
				if contains(from, s) {
					return true
				}
			}
		}
		return false
	})
}

// replace returns a value in which outputs that are withheld, and texts that are, have no texts.
func (v *Values) replace(value any, withheld func(string) bool) any {
	if v == nil {
		return value
	}
	switch x := value.(type) {
	case string:
		if withheld(x) {
			return Text
		}
	case []any, map[string]any:
		if has(v.outputs, x) {
			return Blank(x)
		}
		return each(x, func(e any) any { return v.replace(e, withheld) })
	}
	return value
}

// Blank returns a value with [Text] in place of each text; that of a JSON object or list is of the same form.
func Blank(value any) any {
	s, ok := value.(string)
	if !ok {
		return each(value, Blank)
	}
	if read := modeltext.Value(s); read != any(s) {
		return echo.AsText(each(read, Blank))
	}
	if s == "" {
		return s
	}
	return Text
}

// each returns a value with another one in place of each that it has.
func each(value any, of func(any) any) any {
	switch x := value.(type) {
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = of(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for name, e := range x {
			out[name] = of(e)
		}
		return out
	}
	return value
}

func has(list []any, value any) bool {
	return slices.ContainsFunc(list, func(e any) bool { return reflect.DeepEqual(e, value) })
}

// contains reports whether a text is in one of a value.
func contains(value any, text string) bool {
	switch x := value.(type) {
	case string:
		return strings.Contains(x, text)
	case []any:
		return slices.ContainsFunc(x, func(e any) bool { return contains(e, text) })
	case map[string]any:
		for _, e := range x {
			if contains(e, text) {
				return true
			}
		}
	}
	return false
}

// Answer returns the newest answer or tool result of a visit that nobody has taken back while it ran, with its place and how it is
// withdrawn; nil: it has none.
func Answer(s *echo.Session, visit *echo.PhaseRecord) *echo.Item {
	history, gone := s.Marked(visit), echo.Retracted(visit.History)
	spots := echo.Spots(visit.Name, visit.Visit, history)
	for i, it := range slices.Backward(history) {
		if IsAnswer(it.Message) && (gone == nil || !gone[i]) {
			if it.Order > 0 {
				it.Origin = &spots[i]
			}
			return &it
		}
	}
	return nil
}

// IsAnswer reports whether a message is an answer or a tool result.
func IsAnswer(m *echo.Message) bool {
	return m.Kind() == echo.KindAnswer || m.Kind() == echo.KindToolResult
}
