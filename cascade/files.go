package cascade

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/windlass-run/windlass/internal/filetype"
	"github.com/windlass-run/windlass/internal/source"
)

// FileInputs returns the inputs that are files, with what they take.
func (c *Cascade) FileInputs() map[string]filetype.Kind {
	if c.InputsSchema == nil || len(c.InputsSchema.Schema) == 0 {
		return nil
	}
	var s struct {
		Properties map[string]struct {
			Format any `json:"format"`
		} `json:"properties"`
	}
	if json.Unmarshal(c.InputsSchema.Schema, &s) != nil {
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

// checkFileInputs checks the inputs that are files, and that no tool or member of an input is one.
func (c *schemas) checkFileInputs(at place, isInput bool) {
	list := at.Key("properties").Node()
	if list == nil || list.Kind != source.Object {
		return
	}
	for _, m := range list.Members {
		here := at.Keys("properties", m.Key)
		format := here.Key("format")
		if n := format.Node(); n != nil && n.Kind == source.String && filetype.Kind(n.Text).IsKnown() {
			c.checkFileInput(here, m.Key, n.Text, isInput)
		}
		c.checkFileInputs(here, false)
	}
}

func (c *schemas) checkFileInput(at place, name, format string, isInput bool) {
	t := at.Key("type").Node()
	switch {
	case !isInput:
		at.Key("format").Warn(CodeNoEffect, fmt.Sprintf("the format %q makes only an input itself a file, not a member of one", format), "declare it among the properties of inputs_schema")
	case t == nil || t.Kind != source.String || t.Text != "string":
		at.Error(CodeInvalidSchema, fmt.Sprintf("the input %q is a file, which templates see as a text: its type is \"string\"", name),
			fmt.Sprintf(`write {"type": "string", "format": %q}`, format))
	case !fileInputName.MatchString(name):
		at.Error(CodeInvalidName, fmt.Sprintf("the input %q is a file, and its name has other characters than letters, digits, dashes and underscores, or more than 64", name), "choose another name")
	}
}
