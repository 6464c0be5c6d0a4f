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

// description is what is read of openAPI.
type description struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components json.RawMessage                 `json:"components"`
}

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

func readDescription() (*description, error) {
	d := &description{}
	if err := json.Unmarshal(openAPI, d); err != nil {
		return nil, fmt.Errorf("the description of the API: %w", err)
	}
	return d, nil
}

type forms struct {
	path     map[string]*schema.Schema // of each parameter in the path
	body     *schema.Schema            // nil: there is none
	required bool                      // the body
}

func (d *description) formsOf(method, path string) (f forms, err error) {
	op := d.Paths[path][strings.ToLower(method)]
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

// compile prepares a schema for use, with the components that its references lead to.
func (d *description) compile(raw json.RawMessage) (*schema.Schema, error) {
	whole, err := json.Marshal(map[string]any{"allOf": []json.RawMessage{raw}, "components": d.Components})
	if err != nil {
		return nil, err
	}
	return schema.CompileOwn(whole)
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
			return nothingNamed(r.Pattern, name, value)
		}
	}
	return nil
}

func nothingNamed(pattern, parameter, value string) *Problem {
	switch {
	case parameter == "n":
		return NewProblem(NotFound, tryImages, "an image has a number from 1 to 8, not %s", quote(value))
	case strings.Contains(pattern, "/waits/"):
		return NewProblem(failure.UnknownWait, tryAnswer, "no wait can be named %s", quote(value))
	case parameter == "call":
		return NewProblem(failure.UnknownCall, tryCall, "no model call can be named %s", quote(value))
	}
	return NewProblem(failure.UnknownSession, trySessions, "no session can be named %s", quote(value))
}
