package cascade

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/schema"
)

// maxSubschemas bounds all schemas of a cascade: compiling takes time with the square of the size.
const maxSubschemas = 4 * schema.MaxSubschemas

// schemaHint shows what a schema looks like.
const schemaHint = `a JSON Schema is an object, as {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}`

// schemas checks the JSON Schemas of a cascade.
type schemas struct {
	stop func() error
	size int // subschemas so far
}

// check compiles a schema and reports what is wrong with it, where it can at the place inside it.
func (c *schemas) check(at place, raw json.RawMessage, what string) {
	if c.size > maxSubschemas || c.stop() != nil {
		return // It has been said, or nobody waits for more.
	}
	compiled, err := schema.Compile(raw)
	if err == nil {
		if c.size += compiled.Size(); c.size > maxSubschemas {
			at.Error(CodeInvalidSchema, fmt.Sprintf("up to %s, the schemas of the cascade have %d subschemas in all, at most %d are checked",
				what, c.size, maxSubschemas), "split the cascade, or check less with its schemas")
		}
		return
	}
	var invalid *schema.InvalidError
	if !errors.As(err, &invalid) {
		at.Error(CodeInvalidSchema, fmt.Sprintf("%s is not a JSON Schema: %v", what, err), schemaHint)
		return
	}
	for _, v := range invalid.Violations {
		at.Below(v.Pointer).Error(CodeInvalidSchema, fmt.Sprintf("%s is not a valid JSON Schema: %s", what, v), schemaHint)
	}
}

// checkInputs checks either form of an inputs_schema, which must be a schema of objects.
func (c *schemas) checkInputs(s *InputsSchema, owner place) {
	at := owner.Key("inputs_schema")
	if s == nil || s.Schema == nil || at.Node() == nil {
		return
	}
	c.check(at, s.Schema, "inputs_schema")
	if t := at.Key("type"); t.Node() != nil && t.Node().Kind == source.String && t.Node().Text != "object" {
		t.Error(CodeInvalidSchema, fmt.Sprintf("inputs are an object, so the type of inputs_schema is \"object\", not %q", t.Node().Text), `write "type": "object" and put this below "properties"`)
	}
}
