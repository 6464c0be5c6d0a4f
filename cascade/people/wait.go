package people

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/cascade/shape"
	"github.com/windlass-run/windlass/cascade/wording"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
)

// Wait is what a phase waits for that does nothing else. Its strings are templates.
type Wait struct {
	Signal         string        `json:"signal,omitempty"` // one signal, by its name
	Any            []Alternative `json:"any,omitempty"`    // or the first of several
	TimeoutSeconds float64       `json:"timeout_seconds,omitempty"`
	Description    string        `json:"description,omitempty"` // for people
}

// Alternative is one of those that a wait may end with: a signal, or the answer of a person.
type Alternative struct {
	Signal string      `json:"signal,omitempty"`
	Ask    *HumanInput `json:"ask,omitempty"`   // its type, prompt, options and fields
	Route  string      `json:"route,omitempty"` // _route of the output; default fired, or answered
}

// all returns the alternatives of a wait, in whatever form the file has them.
func (w *Wait) all() []Alternative {
	if w.Signal != "" {
		return []Alternative{{Signal: w.Signal}}
	}
	return w.Any
}

// Inputs returns the arguments with which a run waits: those of [waiting.ToolAny].
func (w *Wait) Inputs() map[string]json.RawMessage {
	in := waiting.AnyOf{Signals: []waiting.Awaited{}, Timeout: w.TimeoutSeconds, Note: w.Description}
	for _, a := range w.all() {
		if a.Ask == nil {
			in.Signals = append(in.Signals, waiting.Awaited{Name: a.Signal, Route: cmp.Or(a.Route, waiting.RouteFired)})
			continue
		}
		in.Form, in.Answered = a.Ask.Form(), cmp.Or(a.Route, waiting.RouteAnswered)
		in.Form.Question = a.Ask.Prompt
	}
	return in.Arguments()
}

// signals yields the names of signals as the file has them, each with its place in that of the wait.
func (w *Wait) signals(at document.Place) iter.Seq2[document.Place, string] {
	return func(yield func(document.Place, string) bool) {
		if w.Signal != "" && !yield(at.Key("signal"), w.Signal) {
			return
		}
		for i := range w.Any {
			if !yield(at.Keys("any", strconv.Itoa(i), "signal"), w.Any[i].Signal) {
				return
			}
		}
	}
}

// CheckNames finds names of signals that no signal can have, and ids of options that nobody can type. Those of templates
// are known when the phase runs.
func (w *Wait) CheckNames(at document.Place) {
	for i := range w.Any {
		if w.Any[i].Ask != nil {
			w.Any[i].Ask.CheckIDs(at.Key("any").Index(i).Key("ask"))
		}
	}
	for where, name := range w.signals(at) {
		n := utf8.RuneCountInString(name)
		if n > waiting.MaxSignal && !shape.IsTemplate(name) && where.Sound() && at.Sound() {
			where.Error(document.CodeOutOfRange, fmt.Sprintf("%s has %d characters, the name of a signal has at most %d", where.Describe(), n, waiting.MaxSignal), "shorten it; what else is to be said is in the data of the signal")
		}
	}
}

// Check holds the wait at a place to its rules.
func (w *Wait) Check(at document.Place) {
	if !at.Sound() || !at.Intact("signal", "any") {
		return
	}
	switch {
	case at.Has("signal") && at.Has("any"):
		at.KeyError("any", document.CodeConflicting, fmt.Sprintf("%s has both %q and %q", at.Describe(), "signal", "any"), `write the signal into "any", too`)
		return
	case !at.Has("signal") && !at.Has("any") && !at.Meant("signal") && !at.Meant("any"):
		at.Error(document.CodeMissingKey, fmt.Sprintf("%s waits for nothing", at.Describe()), `add "signal": "deployed", or "any": [{"signal": "deployed"}, {"signal": "cancelled", "route": "stop"}]`)
		return
	}
	var signals []string
	asks := 0
	for i := range w.Any {
		where := at.Key("any").Index(i)
		if !where.Sound() || !where.Intact("signal", "ask") {
			continue
		}
		a := &w.Any[i]
		a.check(where)
		if asks += len(where.Written("ask")); asks > 1 && where.Has("ask") {
			where.KeyError("ask", document.CodeConflicting, fmt.Sprintf("%s asks a person twice", at.Describe()), "ask once, with options or fields for all of it")
		}
		if a.Signal != "" && slices.Contains(signals, a.Signal) {
			where.Key("signal").Error(document.CodeConflicting, fmt.Sprintf("%s has the signal %q twice", at.Describe(), a.Signal), "remove one of the two")
		}
		signals = append(signals, a.Signal)
	}
}

func (a *Alternative) check(at document.Place) {
	switch signal, ask := at.Has("signal"), at.Has("ask"); {
	case signal && ask:
		at.KeyError("ask", document.CodeConflicting, fmt.Sprintf("%s is both a signal and a question", at.Describe()), "write two alternatives")
	case !signal && !ask && !at.Meant("signal") && !at.Meant("ask"):
		at.Error(document.CodeMissingKey, fmt.Sprintf("%s is neither a signal nor a question", at.Describe()), `add "signal" or "ask"`)
	}
	if a.Ask == nil || !at.Key("ask").Sound() {
		return
	}
	ask := at.Key("ask")
	a.Ask.checkForm(ask)
	if !ask.Has("prompt") && !ask.Meant("prompt") {
		ask.Error(document.CodeMissingKey, fmt.Sprintf("%s has no %q", ask.Describe(), "prompt"), "say what a person is asked")
	}
	for _, key := range ask.Written("condition", "timeout_seconds", "on_timeout", "default_value") {
		ask.KeyError(key, document.CodeMisplacedField, fmt.Sprintf("%q belongs to human_input; %s has one end for all that it waits for", key, at.Describe()), `remove it; the wait has "timeout_seconds"`)
	}
}

// Routes are the labels that the output of the wait can have.
func (w *Wait) Routes() []string {
	var out []string
	for _, label := range w.labelled(document.Place{}) {
		if !slices.Contains(out, label) {
			out = append(out, label)
		}
	}
	return out
}

// labelled yields the labels that the output of the wait can have, each with the place that gives it.
func (w *Wait) labelled(at document.Place) iter.Seq2[document.Place, string] {
	return func(yield func(document.Place, string) bool) {
		for i, a := range w.all() {
			where := at
			if w.Signal == "" {
				where = at.Key("any").Index(i)
			}
			label := cmp.Or(a.Route, waiting.RouteFired)
			if a.Ask != nil {
				label = cmp.Or(a.Route, waiting.RouteAnswered)
			}
			if a.Route != "" {
				where = where.Key("route")
			}
			if !yield(where, label) {
				return
			}
		}
		if w.TimeoutSeconds > 0 {
			yield(at.Key("timeout_seconds"), waiting.RouteTimeout)
		}
	}
}

// CheckRouting warns of labels in the routing of a phase that its wait never gives, and of those that it gives and
// routing does not have. title is what messages call the phase.
func (w *Wait) CheckRouting(phase document.Place, title string, routing map[string]string) {
	at := phase.Key("wait")
	if len(routing) == 0 || !at.Sound() || !phase.Intact("routing") || !at.Intact("signal", "any", "timeout_seconds") || len(w.all()) == 0 {
		return
	}
	if slices.ContainsFunc(w.Routes(), shape.IsTemplate) { // which may be any label
		return
	}
	written := slices.Sorted(maps.Keys(routing))
	never := slices.DeleteFunc(slices.Clone(written), func(label string) bool { return slices.Contains(append(w.Routes(), routeDefault, routeError), label) })
	if !slices.Contains(written, routeDefault) {
		for where, label := range w.labelled(at) {
			if slices.Contains(written, label) || !where.Sound() || wording.Meant(label, never) != "" {
				continue // of a label that is nearly there, below
			}
			written = append(written, label) // once is enough
			where.Warn(document.CodeNoEffect, fmt.Sprintf("the wait of %s can end with %q, and \"routing\" has neither that label nor %q", title, label, routeDefault), `add one of the two to "routing"`)
		}
	}
	for _, label := range never {
		phase.Key("routing").NoEffect(label, fmt.Sprintf("the route %q of %s is never taken: no end of its wait has that label", label, title),
			cmp.Or(wording.Meant(label, w.Routes()), wording.KnownNames("it ends with ", w.Routes())))
	}
}

// The labels of a routing that a wait does not give: of every other end, and of a phase that fails.
const (
	routeDefault = "default"
	routeError   = "error"
)

// For says in a few words what is awaited.
func (w *Wait) For() string {
	var out []string
	for _, a := range w.all() {
		word := "signal " + a.Signal
		if a.Ask != nil {
			word = "a person: " + string(echo.FormKind(a.Ask.Kind()))
		}
		out = append(out, word)
	}
	return strings.Join(out, ", or ")
}
