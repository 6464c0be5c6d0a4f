package inputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/internal/filetype"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/schema"
)

// maxSubschemas bounds all schemas of a cascade: compiling takes time with the square of the size.
const maxSubschemas = 4 * schema.MaxSubschemas

// schemaHint shows what a schema looks like.
const schemaHint = `a JSON Schema is an object, as {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}`

// Schemas checks the JSON Schemas of a cascade.
type Schemas struct {
	Stop func() error // why to stop, nil while somebody waits for the result
	size int          // subschemas so far
}

// Check compiles a schema and reports what is wrong with it, where it can at the place inside it.
func (c *Schemas) Check(at document.Place, raw json.RawMessage, what string) {
	if c.size > maxSubschemas || c.Stop() != nil {
		return // It has been said, or nobody waits for more.
	}
	compiled, err := schema.Compile(raw)
	if err == nil {
		if c.size += compiled.Size(); c.size > maxSubschemas {
			at.Error(document.CodeInvalidSchema, fmt.Sprintf("up to %s, the schemas of the cascade have %d subschemas in all, at most %d are checked",
				what, c.size, maxSubschemas), "split the cascade, or check less with its schemas")
		}
		return
	}
	var invalid *schema.InvalidError
	if !errors.As(err, &invalid) {
		at.Error(document.CodeInvalidSchema, fmt.Sprintf("%s is not a JSON Schema: %v", what, err), schemaHint)
		return
	}
	for _, v := range invalid.Violations {
		at.Below(v.Pointer).Error(document.CodeInvalidSchema, fmt.Sprintf("%s is not a valid JSON Schema: %s", what, v), schemaHint)
	}
}

// CheckInputs checks either form of an inputs_schema, which must be a schema of objects.
func (c *Schemas) CheckInputs(s *Contract, owner document.Place) {
	at := owner.Key("inputs_schema")
	if s == nil || s.Schema == nil || at.Node() == nil {
		return
	}
	c.Check(at, s.Schema, "inputs_schema")
	if t := at.Key("type"); t.Node() != nil && t.Node().Kind == source.String && t.Node().Text != "object" {
		t.Error(document.CodeInvalidSchema, fmt.Sprintf("inputs are an object, so the type of inputs_schema is \"object\", not %q", t.Node().Text), `write "type": "object" and put this below "properties"`)
	}
}

// Files returns the inputs that are files, with what they take.
func (c *Contract) Files() map[string]filetype.Kind {
	if c == nil || len(c.Schema) == 0 {
		return nil
	}
	var s struct {
		Properties map[string]struct {
			Format any `json:"format"`
		} `json:"properties"`
	}
	if json.Unmarshal(c.Schema, &s) != nil {
		return nil
	}
	out := map[string]filetype.Kind{}
	for name, p := range s.Properties {
		if format, _ := p.Format.(string); filetype.Kind(format).IsKnown() {
			out[name] = filetype.Kind(format)
		}
	}
	return out
}

// fileInputName matches the names of inputs that are files: they stand in markers and names of files.
var fileInputName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// CheckFiles checks the inputs that are files, and that no tool or member of an input is one.
func (c *Schemas) CheckFiles(at document.Place, isInput bool) {
	list := at.Key("properties").Node()
	if list == nil || list.Kind != source.Object {
		return
	}
	for _, m := range list.Members {
		here := at.Keys("properties", m.Key)
		format := here.Key("format")
		if n := format.Node(); n != nil && n.Kind == source.String && filetype.Kind(n.Text).IsKnown() {
			c.checkFile(here, m.Key, n.Text, isInput)
		}
		c.CheckFiles(here, false)
	}
}

func (c *Schemas) checkFile(at document.Place, name, format string, isInput bool) {
	t := at.Key("type").Node()
	switch {
	case !isInput:
		at.Key("format").Warn(document.CodeNoEffect, fmt.Sprintf("the format %q makes only an input itself a file, not a member of one", format), "declare it among the properties of inputs_schema")
	case t == nil || t.Kind != source.String || t.Text != "string":
		at.Error(document.CodeInvalidSchema, fmt.Sprintf("the input %q is a file, which templates see as a text: its type is \"string\"", name),
			fmt.Sprintf(`write {"type": "string", "format": %q}`, format))
	case !fileInputName.MatchString(name):
		at.Error(document.CodeInvalidName, fmt.Sprintf("the input %q is a file, and its name has other characters than letters, digits, dashes and underscores, or more than 64", name), "choose another name")
	}
}
