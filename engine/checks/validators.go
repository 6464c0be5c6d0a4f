package checks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/modeltext"
	"github.com/windlass-run/windlass/engine/texts"
	"github.com/windlass-run/windlass/engine/toolset"
	"github.com/windlass-run/windlass/engine/verdict"
)

// Checks judges the answers of a phase. It belongs to the goroutine of the visit.
type Checks struct {
	*Validators
	Schemas *toolset.Schemas
}

// Validators asks validators at one place. A copy with a place of its own asks for a branch: it belongs to
// the goroutine of that.
type Validators struct {
	*core.Place
	Calls     *core.Calls
	Templates *texts.Templates // of the same place
	Cascade   *cascade.Cascade
	Session   string // its id
	Tools     effect.Tools
	Children  Children
	Model     string      // of validators that name none, in a phase without one
	Subject   string      // what is judged: input or output; "": an answer
	Attached  []echo.Part // images that are in no history yet

	failure error // see [Validators.Failure]
}

// Empty is the name of the check that an answer has text.
const Empty = "empty_answer"

// RefusesEmpty reports whether an answer of the phase must have text. What has a schema is refused
// by that.
func (c *Checks) RefusesEmpty() bool {
	return c.Rec.Rules.RefusesEmpty() && !c.Def.Rules.AllowEmpty && len(c.Def.OutputSchema) == 0
}

// Judge refuses an empty answer, then checks it by output_schema, then loop_until unless passed already. It returns the
// value or the check that failed; why is then in Templates.Rejected.
func (c *Checks) Judge(ctx context.Context, ans Answer) (value any, failed string, err error) {
	phase := c.Def
	value = ans.Text
	c.Templates.Rejected, c.failure = "", nil
	if ans.Empty != "" && c.RefusesEmpty() {
		c.Templates.Rejected = "the answer is empty: " + ans.Empty
		return nil, Empty, c.RecordVerdict(Empty, &echo.Verdict{Reason: c.Templates.Rejected})
	}
	if len(phase.OutputSchema) > 0 {
		parsed, reason, err := c.Fits(ctx, phase.OutputSchema, ans.Text)
		if err != nil {
			return nil, "", err
		}
		if reason != "" {
			c.Templates.Rejected, c.Templates.Unfit = reason, reason
			return nil, "output_schema", nil
		}
		value = parsed
	}
	name := phase.Rules.LoopUntil
	if name == "" || ans.Passed {
		return value, "", nil
	}
	found, err := c.Validate(ctx, name, ans.Text)
	if err != nil {
		return nil, "", err
	}
	if !found.Valid {
		c.Templates.Rejected = found.Reason
		return nil, core.LoopUntilCheck + name, nil
	}
	return value, "", nil
}

// Fits is [Checks.MatchSchema] with a verdict that is recorded.
func (c *Checks) Fits(ctx context.Context, schema json.RawMessage, text string) (value any, reason string, err error) {
	if value, reason, err = c.MatchSchema(ctx, schema, text); err != nil {
		return nil, "", err
	}
	vd := &echo.Verdict{Valid: reason == "", Reason: reason}
	if err = c.RecordVerdict("output_schema", vd); err == nil && vd.Valid && reason != "" { // before texts were taken out it did
		raw, _ := modeltext.FindJSON(text)
		value, err = modeltext.Decode(raw)
	}
	return value, vd.Reason, err
}

// RecordVerdict records the verdict of a check, by its name. Where what it is about was redacted since, it becomes the
// recorded one.
func (c *Checks) RecordVerdict(check string, v *echo.Verdict) error {
	v.Validator = check
	said, err := core.Follow(c.Rec, c.Here().Named(echo.StepVerdict, check), *v)
	*v = said
	return err
}

// MatchSchema reads an answer by output_schema. The reason, "" where the answer matches, quotes every violation, for
// the model.
func (c *Checks) MatchSchema(ctx context.Context, schema json.RawMessage, text string) (value any, reason string, err error) {
	raw, ok := modeltext.FindJSON(text)
	if !ok {
		return nil, "it is not JSON: there is no JSON value in the text. " +
			"Answer with one JSON value that matches the schema, and nothing else.", nil
	}
	violations, err := c.Schemas.Check(ctx, schema, raw)
	if err != nil {
		return nil, "", fmt.Errorf("check output_schema: %w", err)
	}
	if len(violations) > 0 {
		return nil, "it does not match the schema:\n" + toolset.Bullets(violations), nil
	}
	value, err = modeltext.Decode(raw)
	return value, "", err
}

// LooksAtWorld reports whether a validator looks at more than the answer: then it can also judge a turn that called
// tools.
func (c *Checks) LooksAtWorld(name string) bool {
	ref, err := c.Cascade.ParseValidator(name)
	return err == nil && ref.LooksAtWorld()
}

// Validate asks a validator and records its verdict.
func (c *Checks) Validate(ctx context.Context, name, content string) (*echo.Verdict, error) {
	vd, err := c.Ask(ctx, name, content)
	if err != nil {
		return nil, err
	}
	return vd, c.RecordVerdict(name, vd)
}

// Failure returns why the validator that was asked last could not run, nil where it could. Its verdict rejects.
func (c *Validators) Failure() error { return c.failure }

// Ask returns the verdict of a validator, which is not recorded. One that fails rejects what it was to judge, see
// [Validators.Failure]; the error is one that ends the phase or the run.
func (c *Validators) Ask(ctx context.Context, name, content string) (*echo.Verdict, error) {
	c.failure = nil
	ref, err := c.Cascade.ParseValidator(name)
	if err != nil {
		return nil, err
	}
	vd, err := c.askBy(ctx, ref, content)
	switch {
	case err == nil:
		return vd, nil
	case !c.Rec.Rules.FindsVerdicts() || !core.Recoverable(err) || c.endsRun(name, err):
		return nil, fmt.Errorf("validator %s: %w", name, err)
	}
	c.failure = err
	return c.couldNotRun(err.Error()), nil
}

func (c *Validators) askBy(ctx context.Context, ref cascade.Validator, content string) (*echo.Verdict, error) {
	switch ref.Kind {
	case cascade.ValidatorInline:
		return c.inline(ctx, ref.Name, content)
	case cascade.ValidatorTool:
		return c.byTool(ctx, ref.Name, content)
	case cascade.ValidatorCommand:
		return c.byCommand(ctx, ref.Command, content)
	case cascade.ValidatorCascade:
		return c.byCascade(ctx, ref.Name, content)
	default:
		_, valid, why := verdict.Rule(ref, content)
		return accept(valid, why), nil
	}
}

func accept(valid bool, otherwise string) *echo.Verdict {
	if valid {
		return &echo.Verdict{Valid: true}
	}
	return &echo.Verdict{Reason: otherwise}
}

// Describe tells a model, before it answers, what a validator judges.
func (c *Checks) Describe(name string) (string, error) {
	ref, err := c.Cascade.ParseValidator(name)
	if err != nil {
		return "", err
	}
	switch ref.Kind {
	case cascade.ValidatorInline:
		text, err := c.instructions(name, c.Cascade.Validators[name], "(your answer)")
		return "a reviewer judges your answer by these instructions: " + text, err
	case cascade.ValidatorCommand:
		return "this command must exit with status 0: " + ref.Command, nil
	case cascade.ValidatorTool:
		return fmt.Sprintf("the tool %s must accept your answer", ref.Name), nil
	case cascade.ValidatorCascade:
		return c.describeCascade(ref.Name), nil
	default:
		rule, _, _ := verdict.Rule(ref, "")
		return rule, nil
	}
}

// inline asks a model, up to max_turns times until its answer is a verdict.
func (c *Validators) inline(ctx context.Context, name, content string) (*echo.Verdict, error) {
	def := c.Cascade.Validators[name]
	messages, err := c.conversation(ctx, name, def, content)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		resp, err := c.askValidator(ctx, name, try, messages)
		if err != nil {
			return nil, err
		}
		vd, ok := c.readVerdict(resp.Message.Text())
		if ok {
			return vd, nil
		}
		if try >= max(def.MaxTurns, 1) {
			return c.noVerdict(name, resp.Message.Text())
		}
		messages = append(messages, resp.Message, echo.NewText(echo.RoleUser, echo.KindRetry,
			`That is not a verdict. Reply with {"valid": true or false, "reason": "..."} and nothing else.`))
	}
}

// ModelOf returns the model that an inline validator asks, by the name of the validator.
func (c *Validators) ModelOf(name string) string {
	return cmp.Or(c.Cascade.Validators[name].Model, c.Record.Model, c.Model)
}

func (c *Validators) askValidator(ctx context.Context, name string, try int, messages []*echo.Message) (*effect.ModelResponse, error) {
	site := c.Site
	site.Validator = name
	key := c.Here().Named(echo.StepValidate, name).Try(echo.StepModel, try)
	req := &effect.ModelRequest{Site: site, Model: c.ModelOf(name), Messages: messages[:len(messages):len(messages)]}
	if err := c.Calls.Begin(ctx, key, req); err != nil {
		return nil, err
	}
	return c.Calls.Ask(ctx, key, req)
}

// byTool asks a declared tool with what its schema names of the question. It answers {valid, reason}.
func (c *Validators) byTool(ctx context.Context, name, content string) (*echo.Verdict, error) {
	spec, ok := c.Tools.Spec(name)
	if !ok {
		return nil, fmt.Errorf("no tool named %q", name)
	}
	args, err := fitArguments(spec, c.question(content))
	if err != nil {
		return nil, err
	}
	m, err := c.useTool(ctx, spec, args)
	if err != nil {
		return nil, err
	}
	vd, ok := c.readVerdict(m.Text())
	switch {
	case ok && !m.Failed():
		return vd, nil
	case m.Failed() || !c.Rec.Rules.FindsVerdicts():
		return accept(!m.Failed(), c.reason(m.Text())), nil
	}
	return c.noVerdict(name, m.Text())
}

// byCommand runs a command line with the question on its standard input. Its exit status decides where
// it answers no {valid, reason}.
func (c *Validators) byCommand(ctx context.Context, line, content string) (*echo.Verdict, error) {
	command, err := c.Templates.Shell("loop_until", line)
	if err != nil {
		return nil, err
	}
	stdin := effect.MustJSON(c.question(content))
	args := effect.MustJSON(map[string]string{"command": command, "stdin": string(stdin)})
	m, err := c.useTool(ctx, effect.ToolSpec{Name: effect.CommandTool}, args)
	if err != nil {
		return nil, err
	}
	vd, ok := c.readVerdict(m.Text())
	reason := c.reason(m.Text())
	switch {
	case ok && !m.Failed():
		return vd, nil
	case m.Failed() && c.Rec.Rules.FindsVerdicts() && notRun.MatchString(m.Text()):
		return c.couldNotRun(m.Text()), nil
	}
	return accept(!m.Failed(), reason), nil
}

// notRun is how the output of a command ends that a shell did not find, or could not run.
var notRun = regexp.MustCompile(`\[exit status 12[67]\]$`)

func (c *Validators) useTool(ctx context.Context, spec effect.ToolSpec, args json.RawMessage) (*echo.Message, error) {
	site := c.Site
	site.Validator = spec.Name
	m, err := c.Rec.Use(ctx, c.Here().Named(echo.StepValidate, spec.Name), spec, effect.ToolRequest{
		Site: site, SessionID: c.Session, Name: spec.Name, Arguments: args,
	})
	return m, NoOutcome(err)
}
