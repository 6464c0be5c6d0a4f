package inputs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/suggestion"
	"github.com/windlass-run/windlass/schema"
)

// Match holds an input against a full JSON Schema. Names forbid nothing.
func (s *Contract) Match(ctx context.Context, input map[string]any) []schema.Violation {
	if s == nil {
		return nil
	}
	raw, err := json.Marshal(input)
	if err != nil {
		return []schema.Violation{{Keyword: "type", Message: fmt.Sprintf("the input is no JSON: %v", err)}}
	}
	if s.Schema == nil {
		return nil
	}
	compiled, err := schema.Compile(s.Schema)
	if err != nil {
		return []schema.Violation{{Keyword: "$schema", Message: fmt.Sprintf("inputs_schema: %v", err)}}
	}
	violations, err := compiled.ValidateContext(ctx, raw)
	if err != nil {
		return []schema.Violation{{Keyword: "type", Message: err.Error()}}
	}
	for i := range violations {
		explain(&violations[i])
	}
	return violations
}

// explain rewrites violations of the input's own keys in terms of inputs.
func explain(v *schema.Violation) {
	if v.Pointer != "" || v.Property == "" {
		return
	}
	switch v.Keyword {
	case "required":
		v.Message = fmt.Sprintf("missing input %q", v.Property)
	case "additionalProperties":
		v.Message = fmt.Sprintf("unknown input %q", v.Property)
		if near := suggestion.For(v.Property, v.Expected); near != "" {
			v.Message += fmt.Sprintf(", did you mean %q?", near)
		}
	}
}

// Unnamed returns what is probably a mistake in an input: what a contract of names does not name.
func (s *Contract) Unnamed(input map[string]any) []string {
	if s == nil || len(s.Names) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(s.Names))
	var out []string
	for _, name := range slices.Sorted(maps.Keys(input)) {
		if _, named := s.Names[name]; named {
			continue
		}
		text := fmt.Sprintf("inputs_schema does not name the input %q", name)
		if near := suggestion.For(name, names); near != "" {
			text += fmt.Sprintf(", did you mean %q?", near)
		}
		out = append(out, text)
	}
	return out
}

// Read reads an input given as text: as JSON if it is that and no string is wanted.
func (s *Contract) Read(name, text string) any {
	if s == nil || len(s.Schema) == 0 {
		return text
	}
	var wants struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(s.Schema, &wants) != nil {
		return text
	}
	if t := wants.Properties[name].Type; t == nil || t == "string" {
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
