// Package inquiry has phases ask people: what human_input and decision_points ask, and what "wait" waits for.
package inquiry

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/people"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/texts"
	"github.com/windlass-run/windlass/engine/waiting"
)

// Asker asks for one visit to a phase.
type Asker struct {
	*core.Place
	Templates *texts.Templates
	SetState  func(key string, value any) error
	Say       func(kind echo.StepKind, m *echo.Message) error // adds to the history of the visit

	Route string // which phase a person has decided to follow; "": none

	checked int // attempts that began because a decision could not be read
	retried int // attempts that a person has asked for
}

// Input asks what the phase asks of a person by human_input, when it has its output.
func (a *Asker) Input(ctx context.Context) error {
	h := a.Def.HumanInput
	if h == nil {
		return nil
	}
	form, err := a.form(h)
	if err != nil || form == nil {
		return err
	}
	w := echo.Wait{Kind: echo.WaitInput, Form: form, Timeout: h.TimeoutSeconds, Expiry: echo.OnTimeout(h.Expiry())}
	if w.Default, err = h.Default(); err != nil {
		return fmt.Errorf("read default_value: %w", err)
	}
	got, err := effect.AwaitAnswer(ctx, a.Rec.Recorder, a.Key.Step(echo.StepWait), a.Site, w)
	if err != nil {
		return err
	}
	value, told, err := waiting.Settled(&got.Wait, got.Answer)
	if err != nil {
		return err
	}
	if err := a.SetState(cascade.StateHumanPrefix+a.Def.Name, value); err != nil {
		return err
	}
	return a.Say(echo.StepNotice, echo.NewText(echo.RoleUser, echo.KindNotice, told))
}

// form returns the form of human_input, nil when its condition leaves it out.
func (a *Asker) form(h *people.HumanInput) (*echo.Form, error) {
	if h.Condition != "" {
		said, err := a.Templates.Condition("human_input.condition", h.Condition)
		if err != nil || texts.LeavesOut(said) {
			return nil, err
		}
	}
	f := h.Form()
	f.Question, f.Context = "Is this right, and is there something to add?", echo.AsText(a.Record.Output)
	if h.Prompt == "" {
		return f, nil
	}
	var err error
	f.Question, err = a.Templates.Text("human_input.prompt", h.Prompt)
	return f, err
}
