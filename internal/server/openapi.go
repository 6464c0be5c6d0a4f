package server

import (
	_ "embed" // the description of the API
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/schema"
)

//go:embed openapi.json
var openAPI []byte

type operation struct {
	Parameters []struct {
		Name   string          `json:"name"`
		In     string          `json:"in"`
		Schema json.RawMessage `json:"schema"`
	} `json:"parameters"`
	RequestBody *struct {
		Required bool `json:"required"`
		Content  map[string]struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
}

type forms struct {
	path     map[string]*schema.Schema // of each parameter in the path
	body     *schema.Schema            // nil: there is none
	required bool                      // the body
}

func formsOf(method, path string) (f forms, err error) {
	var doc struct {
		Paths map[string]map[string]operation `json:"paths"`
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		return f, err
	}
	op := doc.Paths[path][strings.ToLower(method)]
	f.path = map[string]*schema.Schema{}
	for _, p := range op.Parameters {
		if p.In != "path" {
			continue
		}
		if f.path[p.Name], err = d.compile(p.Schema); err != nil {
			return f, fmt.Errorf("the parameter %s: %w", p.Name, err)
		}
	}
	if op.RequestBody == nil {
		return f, nil
	}
	f.required = op.RequestBody.Required
	f.body, err = d.compile(op.RequestBody.Content["application/json"].Schema)
	return f, err
}

func (f forms) checkPath(r *http.Request) error {
	for name, form := range f.path {
		value := r.PathValue(name)
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		switch violations, err := form.Validate(text); {
		case err != nil:
			return err
		case len(violations) > 0:
			return nothingNamed(name, value)
		}
	}
	return nil
}

func nothingNamed(parameter, value string) *Problem {
	if parameter == "call" {
		return NewProblem(failure.UnknownCall, tryCall, "no model call can be named %s", quote(value))
	}
	return NewProblem(failure.UnknownSession, "GET /api/sessions lists them", "no session can be named %s", quote(value))
}

// compileForm prepares a schema of the description, with the components that it refers to.
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
	return schema.CompileOwn(whole)
}
