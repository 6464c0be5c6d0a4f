package waiting

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// ToolAny waits for the first of several signals, or for an answer. A phase runs it by its "wait"; no model can
// call it, and no declared tool can have its name.
const ToolAny = "wait:any"

// The labels of how a wait ended that the file gives no others.
const (
	RouteFired    = "fired"
	RouteAnswered = "answered"
	RouteTimeout  = "timeout"
	RouteSent     = "sent" // of [ToolFire]
)

// Awaited is a signal, and the label of an output that it leads to.
type Awaited struct {
	Name  string `json:"name"`
	Route string `json:"route"`
}

// AnyOf is what [ToolAny] is called with.
type AnyOf struct {
	Signals  []Awaited  `json:"signals"`
	Form     *echo.Form `json:"form,omitempty"` // what a person is asked
	Answered string     `json:"answered,omitempty"`
	Timeout  float64    `json:"timeout_seconds,omitempty"`
	Note     string     `json:"description,omitempty"`
}

// Arguments returns the call as its arguments.
func (a *AnyOf) Arguments() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(effect.MustJSON(a), &out); err != nil { // it is an object
		panic(err)
	}
	return out
}

var anySpec = effect.ToolSpec{
	Name: ToolAny, Idempotent: true,
	Description: "Wait for the first of several signals, or for an answer.",
	Parameters: json.RawMessage(`{"type":"object","required":["signals"],"properties":{` +
		`"signals":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}}}},` +
		`"form":{"type":"object"},"answered":{"type":"string"},"timeout_seconds":{"type":"number"},"description":{"type":"string"}}}`),
}

// MaxSignal is how long the name of a signal may be, in characters; the schemas of the tools say so, too.
const MaxSignal = 200

// ofAny returns the wait of a call of [ToolAny]. The problem says why there is none.
func ofAny(args json.RawMessage) (w echo.Wait, problem string, err error) {
	var in AnyOf
	if err := json.Unmarshal(args, &in); err != nil {
		return w, "", fmt.Errorf("read what to wait for: %w", err)
	}
	w = echo.Wait{Kind: echo.WaitAny, Form: in.Form, Timeout: in.Timeout, By: echo.AwaitedBy{Tool: ToolAny, Note: in.Note}}
	for _, s := range in.Signals {
		switch name := strings.TrimSpace(s.Name); {
		case name == "":
			return w, "The name of a signal is empty.", nil
		case utf8.RuneCountInString(s.Name) > MaxSignal:
			return w, fmt.Sprintf("The name of a signal has %d characters, and at most %d are possible: %s", utf8.RuneCountInString(s.Name), MaxSignal, excerpt.Line(s.Name, 80)), nil
		case slices.Contains(w.Any, s.Name):
			return w, fmt.Sprintf("It waits for the signal %q twice.", s.Name), nil
		}
		w.Any = append(w.Any, s.Name)
	}
	if in.Form != nil && strings.TrimSpace(in.Form.Question) == "" {
		return w, "The prompt is empty.", nil
	}
	return w, "", nil
}

// ToldAny returns the output of a wait for several things, as JSON.
func ToldAny(args json.RawMessage, a *echo.Answer) (string, error) {
	var in AnyOf
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("read what to wait for: %w", err)
	}
	switch {
	case a.TimedOut:
		return fmt.Sprintf(`{"_route": %s}`, quoted(RouteTimeout)), nil
	case a.Signal == "":
		return fmt.Sprintf(`{"_route": %s, "value": %s, "by": %s}`, quoted(in.Answered), asJSON(a.Value), quoted(a.By)), nil
	}
	route := RouteFired
	if at := slices.IndexFunc(in.Signals, func(s Awaited) bool { return s.Name == a.Signal }); at >= 0 {
		route = in.Signals[at].Route
	}
	return fmt.Sprintf(`{"_route": %s, "signal_name": %s, "payload": %s}`, quoted(route), quoted(a.Signal), asJSON(a.Value)), nil
}
