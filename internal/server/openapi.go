package server

import (
	_ "embed" // the description of the API
	"encoding/json"
	"strings"

	"github.com/windlass-run/windlass/schema"
)

//go:embed openapi.json
var openAPI []byte

// operation is what is read of an operation's description.
type operation struct {
	RequestBody *struct {
		Required bool `json:"required"`
		Content  map[string]struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
}

// requestForm returns the schema of an operation's body; nil when it takes none.
func requestForm(method, path string) (form *schema.Schema, required bool, err error) {
	var doc struct {
		Paths map[string]map[string]operation `json:"paths"`
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		return nil, false, err
	}
	body := doc.Paths[path][strings.ToLower(method)].RequestBody
	if body == nil {
		return nil, false, nil
	}
	form, err = compileForm(body.Content["application/json"].Schema)
	return form, body.Required, err
}

// compileForm prepares a schema of the description for use. Its references lead to the components, which it is given.
func compileForm(raw json.RawMessage) (*schema.Schema, error) {
	var doc struct {
		Components json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		return nil, err
	}
	whole, err := json.Marshal(map[string]any{"allOf": []json.RawMessage{raw}, "components": doc.Components})
	if err != nil {
		return nil, err
	}
	return schema.Compile(whole)
}
