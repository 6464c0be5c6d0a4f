package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// verdict is what a validator said.
type verdict struct {
	Valid  bool   `json:"valid"`
	Reason string `json:"reason"`
}

// looksAtWorld reports whether a validator's verdict depends on more than the text.
func (v *visit) looksAtWorld(name string) bool {
	ref, err := v.cascade.ParseValidator(name)
	return err == nil && ref.LooksAtWorld()
}

// validate asks a validator about a text and records the verdict.
func (v *visit) validate(ctx context.Context, name, content string) (*verdict, error) {
	ref, err := v.cascade.ParseValidator(name)
	if err != nil {
		return nil, err
	}
	var vd *verdict
	switch ref.Kind {
	case cascade.ValidatorInline:
		vd, err = v.validateInline(ctx, ref.Name, content)
	case cascade.ValidatorTool:
		vd, err = v.validateTool(ctx, ref.Name, content)
	case cascade.ValidatorCommand:
		vd, err = v.validateCommand(ctx, ref.Command, content)
	default:
		vd = validateText(ref, content)
	}
	if err != nil {
		return nil, fmt.Errorf("validator %s: %w", name, err)
	}
	return vd, v.recordVerdict(name, vd.Valid, vd.Reason)
}

// validateText runs a built-in validator that needs nothing but the text.
func validateText(ref cascade.Validator, content string) *verdict {
	words := len(strings.Fields(content))
	switch ref.Kind {
	case cascade.ValidatorNonEmpty:
		return accept(strings.TrimSpace(content) != "", "the answer is empty")
	case cascade.ValidatorJSON:
		_, ok := extractJSON(content)
		return accept(ok, "the answer is not one JSON value")
	case cascade.ValidatorRegex:
		return accept(ref.Pattern.MatchString(content), fmt.Sprintf("the answer does not match the regular expression %s", ref.Pattern))
	case cascade.ValidatorMinWords:
		return accept(words >= ref.Words, fmt.Sprintf("the answer has %s, at least %d are needed", plural(words, "word"), ref.Words))
	case cascade.ValidatorMaxWords:
		return accept(words <= ref.Words, fmt.Sprintf("the answer has %s, at most %d are allowed", plural(words, "word"), ref.Words))
	default:
		panic("engine: validator " + string(ref.Kind) + " needs more than the text")
	}
}

func accept(valid bool, otherwise string) *verdict {
	if valid {
		return &verdict{Valid: true}
	}
	return &verdict{Reason: otherwise}
}

// describe tells the model what will be checked.
func (v *visit) describe(name string) (string, error) {
	ref, err := v.cascade.ParseValidator(name)
	if err != nil {
		return "", err
	}
	switch ref.Kind {
	case cascade.ValidatorInline:
		vars := v.vars()
		vars["content"], vars["original_input"] = "(your answer)", v.spec.Input
		text, err := v.render1("validators."+name, v.cascade.Validators[name].Instructions, vars)
		return "a reviewer judges your answer by these instructions: " + text, err
	case cascade.ValidatorNonEmpty:
		return "your answer must not be empty", nil
	case cascade.ValidatorJSON:
		return "your answer must be one JSON value", nil
	case cascade.ValidatorRegex:
		return fmt.Sprintf("your answer must match the regular expression %s", ref.Pattern), nil
	case cascade.ValidatorMinWords:
		return fmt.Sprintf("your answer must have at least %d words", ref.Words), nil
	case cascade.ValidatorMaxWords:
		return fmt.Sprintf("your answer must have at most %d words", ref.Words), nil
	case cascade.ValidatorCommand:
		return "this command must exit with status 0: " + ref.Command, nil
	default:
		return fmt.Sprintf("the tool %s must accept your answer", ref.Name), nil
	}
}

// validateInline asks a model. An answer that is no verdict is asked for again, up to max_turns of the validator.
func (v *visit) validateInline(ctx context.Context, name, content string) (*verdict, error) {
	def := v.cascade.Validators[name]
	vars := v.vars()
	vars["content"], vars["original_input"] = content, v.spec.Input
	text, err := v.render1("validators."+name, def.Instructions, vars)
	if err != nil {
		return nil, err
	}
	if !v.texts.uses(def.Instructions, "content") {
		text += "\n\nThe answer to judge:\n" + content
	}
	messages := []*echo.Message{
		echo.NewText(echo.RoleSystem, echo.KindSystem,
			`You judge an answer. Reply with one JSON object and nothing else: {"valid": true or false, "reason": "in one or two sentences, what is wrong"}`),
		v.shown(echo.NewText(echo.RoleUser, echo.KindTask, text)),
	}
	for try := 1; ; try++ {
		resp, err := v.askValidator(ctx, name, def, try, messages)
		if err != nil {
			return nil, err
		}
		vd, ok := readVerdict(resp.Message.Text())
		if ok {
			return vd, nil
		}
		if try >= max(def.MaxTurns, 1) {
			return &verdict{Reason: fmt.Sprintf("the validator %s did not give a verdict", name)},
				v.warn(v.here().Named(echo.StepValidate, name), v.place(), fmt.Sprintf("validator %s answered without a verdict: %s", name, clip(resp.Message.Text(), 200)))
		}
		messages = append(messages, resp.Message, echo.NewText(echo.RoleUser, echo.KindRetry,
			`That is not a verdict. Reply with {"valid": true or false, "reason": "..."} and nothing else.`))
	}
}

func (v *visit) askValidator(ctx context.Context, name string, def cascade.InlineValidator, try int, messages []*echo.Message) (*effect.ModelResponse, error) {
	site := v.place()
	site.Validator = name
	key := v.here().Named(echo.StepValidate, name).Try(echo.StepModel, try)
	req := &effect.ModelRequest{Site: site, Model: cmp.Or(def.Model, v.model), Messages: messages[:len(messages):len(messages)]}
	if err := v.afford(ctx, key, req, sizeOf(req)); err != nil {
		return nil, err
	}
	v.observer.Observe(Event{Kind: EventModelCall, Site: site, Model: req.Model})
	return v.ask(ctx, key, req)
}

// readVerdict finds {valid, reason} in a text.
func readVerdict(text string) (*verdict, bool) {
	raw, ok := extractJSON(text)
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
	return &verdict{Valid: *in.Valid, Reason: in.Reason}, true
}

// validateTool asks a declared tool. It gets {content, original_input}, as far as its schema names them; it answers
// {valid, reason}, or else fails or not.
func (v *visit) validateTool(ctx context.Context, name, content string) (*verdict, error) {
	spec, ok := v.Tools.Spec(name)
	if !ok {
		return nil, fmt.Errorf("no tool named %q", name)
	}
	args, err := v.fitArguments(spec, map[string]any{"content": content, "original_input": v.spec.Input})
	if err != nil {
		return nil, err
	}
	return v.toolVerdict(ctx, spec, args)
}

// validateCommand runs a command line with {content, original_input} on its standard input.
func (v *visit) validateCommand(ctx context.Context, line, content string) (*verdict, error) {
	command, err := v.shellText("loop_until", line)
	if err != nil {
		return nil, err
	}
	stdin := effect.MustJSON(map[string]any{"content": content, "original_input": v.spec.Input})
	args := effect.MustJSON(map[string]string{"command": command, "stdin": string(stdin)})
	return v.toolVerdict(ctx, effect.ToolSpec{Name: effect.CommandTool}, args)
}

func (v *visit) toolVerdict(ctx context.Context, spec effect.ToolSpec, args json.RawMessage) (*verdict, error) {
	site := v.place()
	site.Validator = spec.Name
	v.observer.Observe(Event{Kind: EventToolCall, Site: site, Tool: spec.Name, Arguments: effect.MaskedArguments(v.mask, string(args))})
	m, err := v.rec.Tool(ctx, v.here().Named(echo.StepValidate, spec.Name), spec, effect.ToolRequest{
		Site: site, SessionID: v.session.ID, Name: spec.Name, Arguments: args,
	})
	if err != nil {
		return nil, err
	}
	if vd, ok := readVerdict(m.Text()); ok && !m.Failed() {
		return vd, nil
	}
	return accept(!m.Failed(), m.Text()), nil
}

// fitArguments keeps the arguments that a tool's schema names; a tool that names none gets all.
func (v *visit) fitArguments(spec effect.ToolSpec, all map[string]any) (json.RawMessage, error) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(spec.Parameters, &s); err != nil {
		return nil, fmt.Errorf("read the schema of tool %s: %w", spec.Name, err)
	}
	if len(s.Properties) == 0 {
		return effect.MustJSON(all), nil
	}
	out := map[string]any{}
	for k, val := range all {
		if _, ok := s.Properties[k]; ok {
			out[k] = val
		}
	}
	return effect.MustJSON(out), nil
}
