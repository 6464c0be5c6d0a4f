package cascade

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/internal/suggestion"
	"github.com/windlass-run/windlass/schema"
)

// CheckInput returns what is wrong with a run's input; without inputs_schema, nothing.
func (c *Cascade) CheckInput(input map[string]any) []schema.Violation {
	return c.CheckInputContext(context.Background(), input)
}

// CheckInputContext is [Cascade.CheckInput] with a context, whose end is reported as a violation.
func (c *Cascade) CheckInputContext(ctx context.Context, input map[string]any) []schema.Violation {
	if c.InputsSchema == nil {
		return nil
	}
	if input == nil {
		input = map[string]any{}
	}
	raw, err := json.Marshal(input)
	if err != nil {
		return []schema.Violation{{Keyword: "type", Message: fmt.Sprintf("the input is no JSON: %v", err)}}
	}
	compiled, err := schema.Compile(c.InputsSchema.JSONSchema())
	if err != nil {
		return []schema.Violation{{Keyword: "$schema", Message: fmt.Sprintf("inputs_schema: %v", err)}}
	}
	violations, err := compiled.ValidateContext(ctx, raw)
	if err != nil {
		return []schema.Violation{{Keyword: "type", Message: err.Error()}}
	}
	for i := range violations {
		c.explainInput(&violations[i])
	}
	return violations
}

// explainInput rewrites violations of the input's own keys in terms of inputs.
func (c *Cascade) explainInput(v *schema.Violation) {
	if v.Pointer != "" || v.Property == "" {
		return
	}
	switch v.Keyword {
	case "required":
		v.Message = fmt.Sprintf("missing input %q", v.Property)
		if about := c.InputsSchema.Names[v.Property]; about != "" {
			v.Message += " (" + about + ")"
		}
	case "additionalProperties":
		v.Message = fmt.Sprintf("unknown input %q", v.Property)
		if near := suggestion.For(v.Property, v.Expected); near != "" {
			v.Message += fmt.Sprintf(", did you mean %q?", near)
		}
	}
}

// ReadValue reads an input given as text: as JSON if it is that and no string is wanted.
func (c *Cascade) ReadValue(name, text string) any {
	if c.InputsSchema == nil || len(c.InputsSchema.Schema) == 0 {
		return text
	}
	var s struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(c.InputsSchema.Schema, &s) != nil {
		return text
	}
	if t := s.Properties[name].Type; t == nil || t == "string" {
		return text
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil || dec.More() {
		return text
	}
	return value
}
