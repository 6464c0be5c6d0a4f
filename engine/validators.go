package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/modeltext"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/schema"
)

// checks judges the answers of a phase.
type checks struct {
	*place
	calls     *calls
	templates *templates
	cascade   *cascade.Cascade
	session   string // its id
	tools     effect.Tools
	schemas   schemaCache
}

// checkEmpty is the name of the check that an answer has text.
const checkEmpty = "empty_answer"

// refusesEmpty reports whether an answer of the phase must have text. What has a schema is refused
// by that.
func (c *checks) refusesEmpty() bool {
	return c.rec.rules.refusesEmpty() && !c.phase.Rules.AllowEmpty && len(c.phase.OutputSchema) == 0
}

// judge refuses an empty answer, then checks it by output_schema, then loop_until unless passed already. It returns the
// value or the check that failed; why is then in templates.rejected.
func (c *checks) judge(ctx context.Context, ans answer) (value any, failed string, err error) {
	phase := c.phase
	value = ans.text
	c.templates.rejected = ""
	if ans.empty != "" && c.refusesEmpty() {
		c.templates.rejected = "the answer is empty: " + ans.empty
		return nil, checkEmpty, c.verdict(checkEmpty, &echo.Verdict{Reason: c.templates.rejected})
	}
	if len(phase.OutputSchema) > 0 {
		parsed, reason, err := c.matchSchema(ctx, phase.OutputSchema, ans.text)
		if err != nil {
			return nil, "", err
		}
		if err := c.verdict("output_schema", &echo.Verdict{Valid: reason == "", Reason: reason}); err != nil {
			return nil, "", err
		}
		if reason != "" {
			c.templates.rejected = reason
			return nil, "output_schema", nil
		}
		value = parsed
	}
	name := phase.Rules.LoopUntil
	if name == "" || ans.passed {
		return value, "", nil
	}
	found, err := c.validate(ctx, name, ans.text)
	if err != nil {
		return nil, "", err
	}
	if !found.Valid {
		c.templates.rejected = found.Reason
		return nil, loopUntilCheck + name, nil
	}
	return value, "", nil
}

// loopUntilCheck is what a check is called that a validator decides, before its name.
const loopUntilCheck = "loop_until "

func (c *checks) verdict(check string, v *echo.Verdict) error {
	v.Validator = check
	return c.rec.add(c.here().Named(echo.StepVerdict, check), *v)
}

// matchSchema reads an answer by output_schema. The reason quotes every violation, for the model.
func (c *checks) matchSchema(ctx context.Context, schema json.RawMessage, text string) (value any, reason string, err error) {
	raw, ok := modeltext.FindJSON(text)
	if !ok {
		return nil, "it is not JSON: there is no JSON value in the text. " +
			"Answer with one JSON value that matches the schema, and nothing else.", nil
	}
	violations, err := c.schemas.check(ctx, schema, raw)
	if err != nil {
		return nil, "", fmt.Errorf("check output_schema: %w", err)
	}
	if len(violations) > 0 {
		return nil, "it does not match the schema:\n" + bullets(violations), nil
	}
	value, err = modeltext.Decode(raw)
	return value, "", err
}

func (c *checks) looksAtWorld(name string) bool {
	ref, err := c.cascade.ParseValidator(name)
	return err == nil && ref.LooksAtWorld()
}

func (c *checks) validate(ctx context.Context, name, content string) (*echo.Verdict, error) {
	ref, err := c.cascade.ParseValidator(name)
	if err != nil {
		return nil, err
	}
	var vd *echo.Verdict
	switch ref.Kind {
	case cascade.ValidatorInline:
		vd, err = c.inline(ctx, ref.Name, content)
	case cascade.ValidatorTool:
		vd, err = c.byTool(ctx, ref.Name, content)
	case cascade.ValidatorCommand:
		vd, err = c.byCommand(ctx, ref.Command, content)
	default:
		_, valid, why := checkText(ref, content)
		vd = accept(valid, why)
	}
	if err != nil {
		return nil, fmt.Errorf("validator %s: %w", name, err)
	}
	return vd, c.verdict(name, vd)
}

// checkText is a built-in validator: its rule, whether the text keeps it, else what is wrong.
func checkText(ref cascade.Validator, content string) (rule string, valid bool, why string) {
	words := len(strings.Fields(content))
	switch ref.Kind {
	case cascade.ValidatorNonEmpty:
		return "your answer must not be empty", strings.TrimSpace(content) != "", "the answer is empty"
	case cascade.ValidatorJSON:
		_, ok := modeltext.FindJSON(content)
		return "your answer must be one JSON value", ok, "the answer is not one JSON value"
	case cascade.ValidatorRegex:
		return fmt.Sprintf("your answer must match the regular expression %s", ref.Pattern), ref.Pattern.MatchString(content),
			fmt.Sprintf("the answer does not match the regular expression %s", ref.Pattern)
	case cascade.ValidatorMinWords:
		return fmt.Sprintf("your answer must have at least %d words", ref.Words), words >= ref.Words,
			fmt.Sprintf("the answer has %s, at least %d are needed", quantity.Of(words, "word"), ref.Words)
	case cascade.ValidatorMaxWords:
		return fmt.Sprintf("your answer must have at most %d words", ref.Words), words <= ref.Words,
			fmt.Sprintf("the answer has %s, at most %d are allowed", quantity.Of(words, "word"), ref.Words)
	default:
		panic("engine: validator " + string(ref.Kind) + " needs more than the text")
	}
}

func accept(valid bool, otherwise string) *echo.Verdict {
	if valid {
		return &echo.Verdict{Valid: true}
	}
	return &echo.Verdict{Reason: otherwise}
}

func (c *checks) describe(name string) (string, error) {
	ref, err := c.cascade.ParseValidator(name)
	if err != nil {
		return "", err
	}
	switch ref.Kind {
	case cascade.ValidatorInline:
		text, err := c.instructions(name, c.cascade.Validators[name], "(your answer)")
		return "a reviewer judges your answer by these instructions: " + text, err
	case cascade.ValidatorCommand:
		return "this command must exit with status 0: " + ref.Command, nil
	case cascade.ValidatorTool:
		return fmt.Sprintf("the tool %s must accept your answer", ref.Name), nil
	default:
		rule, _, _ := checkText(ref, "")
		return rule, nil
	}
}

func (c *checks) instructions(name string, def cascade.InlineValidator, content string) (string, error) {
	return c.templates.textWith("validators."+name, def.Instructions, validatorVars(c.templates, content))
}

// validatorVars returns what the instructions of an inline validator see.
func validatorVars(t *templates, content string) map[string]any {
	vars := t.vars()
	vars["content"], vars["original_input"] = content, t.spec.Input
	return vars
}

// inline asks a model, up to max_turns times until its answer is a verdict.
func (c *checks) inline(ctx context.Context, name, content string) (*echo.Verdict, error) {
	def := c.cascade.Validators[name]
	text, err := c.instructions(name, def, content)
	if err != nil {
		return nil, err
	}
	if !c.templates.uses(def.Instructions, "content") {
		text += "\n\nThe answer to judge:\n" + content
	}
	messages := []*echo.Message{
		echo.NewText(echo.RoleSystem, echo.KindSystem,
			`You judge an answer. Reply with one JSON object and nothing else: {"valid": true or false, "reason": "in one or two sentences, what is wrong"}`),
		c.rec.shown(echo.NewText(echo.RoleUser, echo.KindTask, text)),
	}
	for try := 1; ; try++ {
		resp, err := c.askValidator(ctx, name, def, try, messages)
		if err != nil {
			return nil, err
		}
		vd, ok := readVerdict(resp.Message.Text())
		if ok {
			return vd, nil
		}
		if try >= max(def.MaxTurns, 1) {
			return &echo.Verdict{Reason: fmt.Sprintf("the validator %s did not give a verdict", name)},
				c.rec.warn(c.here().Named(echo.StepValidate, name), fmt.Sprintf("validator %s answered without a verdict: %s", name, excerpt.Clip(resp.Message.Text(), 200)))
		}
		messages = append(messages, resp.Message, echo.NewText(echo.RoleUser, echo.KindRetry,
			`That is not a verdict. Reply with {"valid": true or false, "reason": "..."} and nothing else.`))
	}
}

func (c *checks) askValidator(ctx context.Context, name string, def cascade.InlineValidator, try int, messages []*echo.Message) (*effect.ModelResponse, error) {
	site := c.Site
	site.Validator = name
	key := c.here().Named(echo.StepValidate, name).Try(echo.StepModel, try)
	req := &effect.ModelRequest{Site: site, Model: cmp.Or(def.Model, c.record.Model), Messages: messages[:len(messages):len(messages)]}
	if err := c.calls.begin(ctx, key, req); err != nil {
		return nil, err
	}
	return c.calls.ask(ctx, key, req)
}

func readVerdict(text string) (*echo.Verdict, bool) {
	raw, ok := modeltext.FindJSON(text)
	if !ok {
		return nil, false
	}
	var in struct {
		Valid  *bool  `json:"valid"`
		Reason string `json:"reason"`
	}
	if json.Unmarshal(raw, &in) != nil || in.Valid == nil {
		return nil, false
	}
	if !*in.Valid && in.Reason == "" {
		in.Reason = "no reason was given"
	}
	return &echo.Verdict{Valid: *in.Valid, Reason: in.Reason}, true
}

// byTool asks a declared tool with what its schema names of {content, original_input}. It answers
// {valid, reason}, or else fails or not.
func (c *checks) byTool(ctx context.Context, name, content string) (*echo.Verdict, error) {
	spec, ok := c.tools.Spec(name)
	if !ok {
		return nil, fmt.Errorf("no tool named %q", name)
	}
	args, err := fitArguments(spec, map[string]any{"content": content, "original_input": c.templates.spec.Input})
	if err != nil {
		return nil, err
	}
	return c.toolVerdict(ctx, spec, args)
}

// byCommand runs a command line with {content, original_input} on its standard input.
func (c *checks) byCommand(ctx context.Context, line, content string) (*echo.Verdict, error) {
	command, err := c.templates.shell("loop_until", line)
	if err != nil {
		return nil, err
	}
	stdin := effect.MustJSON(map[string]any{"content": content, "original_input": c.templates.spec.Input})
	args := effect.MustJSON(map[string]string{"command": command, "stdin": string(stdin)})
	return c.toolVerdict(ctx, effect.ToolSpec{Name: effect.CommandTool}, args)
}

func (c *checks) toolVerdict(ctx context.Context, spec effect.ToolSpec, args json.RawMessage) (*echo.Verdict, error) {
	site := c.Site
	site.Validator = spec.Name
	m, err := c.rec.use(ctx, c.here().Named(echo.StepValidate, spec.Name), spec, effect.ToolRequest{
		Site: site, SessionID: c.session, Name: spec.Name, Arguments: args,
	})
	if err != nil {
		return nil, err
	}
	if vd, ok := readVerdict(m.Text()); ok && !m.Failed() {
		return vd, nil
	}
	return accept(!m.Failed(), c.rec.rules.reason(m.Text())), nil
}

// fitArguments keeps the arguments that a tool's schema names; a tool that names none gets all.
func fitArguments(spec effect.ToolSpec, all map[string]any) (json.RawMessage, error) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(spec.Parameters, &s); err != nil {
		return nil, fmt.Errorf("read the schema of tool %s: %w", spec.Name, err)
	}
	if len(s.Properties) == 0 {
		return effect.MustJSON(all), nil
	}
	maps.DeleteFunc(all, func(name string, _ any) bool {
		_, known := s.Properties[name]
		return !known
	})
	return effect.MustJSON(all), nil
}

// schemaCache compiles each schema of a run once. It belongs to the run's goroutine.
type schemaCache map[string]*schema.Schema

func (c schemaCache) check(ctx context.Context, raw json.RawMessage, value []byte) ([]schema.Violation, error) {
	s, ok := c[string(raw)]
	if !ok {
		var err error
		if s, err = schema.Compile(raw); err != nil {
			return nil, err
		}
		c[string(raw)] = s
	}
	return s.ValidateContext(ctx, value)
}

func bullets(vs []schema.Violation) string {
	lines := make([]string, len(vs))
	for i, v := range vs {
		lines[i] = "- " + v.String()
	}
	return strings.Join(lines, "\n")
}
