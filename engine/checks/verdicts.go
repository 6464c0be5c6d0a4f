package checks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/verdict"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
)

// shownImages is how many images a validator is shown, the newest ones.
const shownImages = 3

// question is what a validator is asked: a text, and what it goes back to.
func (c *Validators) question(content string) map[string]any {
	q := map[string]any{"content": content, "original_input": c.Templates.Run.Input}
	if c.Rec.Rules.ShowsTurn() {
		n := len(c.images())
		q["has_images"], q["image_count"] = n > 0, n
	}
	return q
}

// images returns all images of the visit's history, the oldest first.
func (c *Validators) images() []echo.Part {
	parts := c.Attached
	for _, it := range c.Present() {
		parts = append(parts[:len(parts):len(parts)], verdict.Images(it.Message)...)
	}
	return parts
}

// newestImages returns those that a validator is shown.
func (c *Validators) newestImages() []echo.Part {
	all := c.images()
	return all[max(len(all)-shownImages, 0):]
}

// conversation is what an inline validator is sent first. A model that takes no images gets none.
func (c *Validators) conversation(ctx context.Context, name string, def cascade.InlineValidator, content string) ([]*echo.Message, error) {
	text, err := c.instructions(name, def, content)
	if err != nil {
		return nil, err
	}
	what := cmp.Or(c.Subject, "answer")
	if !c.usesContent(def.Instructions) {
		text += "\n\nThe " + what + " to judge:\n" + content
	}
	messages := []*echo.Message{echo.NewText(echo.RoleSystem, echo.KindSystem,
		"You judge an "+what+`. Reply with one JSON object and nothing else: {"valid": true or false, "reason": "in one or two sentences, what is wrong"}`)}
	shown, err := c.imageMessage(ctx, name)
	if err != nil {
		return nil, err
	}
	if shown != nil {
		messages = append(messages, shown)
	}
	return append(messages, c.Rec.Shown(echo.NewText(echo.RoleUser, echo.KindTask, text))), nil
}

// imageMessage shows an inline validator the newest images, nil when there is nothing to show.
func (c *Validators) imageMessage(ctx context.Context, name string) (*echo.Message, error) {
	images := c.newestImages()
	if !c.Rec.Rules.ShowsTurn() || len(images) == 0 {
		return nil, nil //nolint:nilnil // see above
	}
	facts, err := c.Calls.Models.Of(ctx, c.ModelOf(name))
	if err != nil || facts.NoImages {
		return nil, err
	}
	head := fmt.Sprintf("The newest %d of %s:", len(images), quantity.Of(len(c.images()), "image"))
	return echo.Seal(echo.Draft{Role: echo.RoleUser, Kind: echo.KindContext, Parts: append(echo.Text(head), images...)}), nil
}

// usesContent reports whether instructions show what is judged themselves.
func (c *Validators) usesContent(instructions string) bool {
	t, err := c.Templates.Parse(instructions)
	if err != nil || t.Uses("content") || !c.Rec.Rules.ShowsTurn() {
		return err == nil && t.Uses("content")
	}
	for _, l := range t.Lookups() {
		if l.Path[0] == "input" && (len(l.Path) == 1 || l.Path[1] == "content") {
			return true
		}
	}
	return false
}

func (c *Validators) instructions(name string, def cascade.InlineValidator, content string) (string, error) {
	return c.Templates.TextWith("validators."+name, def.Instructions, c.Vars(content))
}

// Vars returns what the instructions of an inline validator see when it judges a text: what is asked by its
// names, and also as members of input.
func (c *Validators) Vars(content string) map[string]any {
	vars, question := c.Templates.Vars(), c.question(content)
	maps.Copy(vars, question)
	if c.Rec.Rules.ShowsTurn() {
		input := maps.Clone(c.Templates.Run.Input)
		if input == nil {
			input = map[string]any{}
		}
		maps.Copy(input, question)
		vars["input"] = input
	}
	return vars
}

// readVerdict reads what a validator answered; ok is false when it has not decided.
func (c *Validators) readVerdict(text string) (vd *echo.Verdict, ok bool) {
	if !c.Rec.Rules.FindsVerdicts() {
		return verdict.ReadWhole(text)
	}
	if vd, ok = verdict.Read(text); ok {
		vd.Reason = c.reason(vd.Reason)
	}
	return vd, ok
}

// noVerdict is the verdict of a validator that has answered something else: its text is the reason.
func (c *Validators) noVerdict(name, text string) (*echo.Verdict, error) {
	vd := &echo.Verdict{Reason: fmt.Sprintf("the validator %s did not give a verdict", name)}
	warning := fmt.Sprintf("validator %s answered without a verdict: %s", name, excerpt.Clip(text, 200))
	if c.Rec.Rules.FindsVerdicts() {
		warning = fmt.Sprintf(`validator %s answered without {"valid": true or false, "reason": "..."}, so its text is why it rejects: %s`, name, excerpt.Line(text, 200))
		if strings.TrimSpace(text) != "" {
			vd.Reason = c.reason(strings.TrimSpace(text))
		}
	}
	return vd, c.Rec.Warn(c.Here().Named(echo.StepValidate, name), warning)
}

// couldNotRun is the verdict of a validator that has failed itself.
func (c *Validators) couldNotRun(why string) *echo.Verdict {
	return &echo.Verdict{Reason: "the validator could not run: " + c.reason(why)}
}

// reason returns what is recorded, and told, of a text for which a validator rejects: the last lines, in
// characters that a record gives back as they are.
func (c *Validators) reason(text string) string {
	if c.Rec.Rules.FindsVerdicts() {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return c.Rec.Rules.Reason(text)
}

// noOutcomeError is a validator that has not come to an end: nothing is recorded of one.
type noOutcomeError struct{ error }

func (e noOutcomeError) Unwrap() error { return e.error }

// NoOutcome marks the error, if any, of a validator that has not come to an end. It does not reject what
// was to be judged, but ends the run.
func NoOutcome(err error) error {
	if err == nil {
		return nil
	}
	return noOutcomeError{err}
}

// endsRun reports whether a failed validator ends the run: it has no outcome, a script has no answer for
// it, or the cost of its call is unknown, so that a limit of money cannot be kept from then on. A recorded
// RecordVerdict was decided.
func (c *Validators) endsRun(name string, err error) bool {
	var me *effect.ModelError
	if !errors.As(err, &me) {
		return errors.As(err, new(noOutcomeError))
	}
	usd, _ := c.Calls.Ledger.Limited()
	unknown := usd && !me.Unpaid && c.Rec.Peek(echo.NodeVerdict, c.Here().Named(echo.StepVerdict, name)) == nil
	return me.Kind == echo.ModelErrScript || unknown
}

// fitArguments keeps the arguments that a tool's schema names; a tool that names none gets all.
func fitArguments(spec effect.ToolSpec, all map[string]any) (json.RawMessage, error) {
	if err := verdict.KeepNamed(spec.Parameters, all); err != nil {
		return nil, fmt.Errorf("read the schema of tool %s: %w", spec.Name, err)
	}
	return effect.MustJSON(all), nil
}
