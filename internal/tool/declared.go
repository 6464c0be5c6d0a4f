package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/jq"
	"github.com/windlass-run/windlass/internal/template"
)

// TemplateModes says how values are quoted in each kind of template of a cascade.
var TemplateModes = map[cascade.TemplateKind]template.Mode{
	cascade.TemplateText: template.ModeText, cascade.TemplateCommand: template.ModeShell, cascade.TemplateURL: template.ModeURL,
	cascade.TemplateJSON: template.ModeJSON, cascade.TemplateForm: template.ModeForm,
}

// textTemplate is a template of a declared tool, with the field it stands in.
type textTemplate struct {
	field string
	*template.Template
}

func parseField(field string, mode template.Mode, src string) (*textTemplate, error) {
	t, err := template.ParseMode(mode, src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return &textTemplate{field, t}, nil
}

// render renders the template. A variable that is missing is an argument that is.
func (t *textTemplate) render(vars map[string]any) (string, error) {
	text, _, err := t.Render(vars)
	var missing *template.MissingError
	switch {
	case errors.As(err, &missing) && strings.HasPrefix(missing.Name, "env."):
		return "", &failure{kindNotAllowed, fmt.Errorf("%s: the environment variable %s is not set, or not granted with --allow-env",
			t.field, strings.TrimPrefix(missing.Name, "env."))}
	case errors.As(err, &missing):
		return "", &failure{kindBadArguments, fmt.Errorf("%s: the argument %s is missing", t.field, strings.TrimPrefix(missing.Name, "input."))}
	case err != nil:
		return "", &failure{kindBadArguments, fmt.Errorf("%s: %w", t.field, err)}
	}
	return text, nil
}

// declare prepares a tool that a cascade declares.
func declare(d *cascade.Tool, env environment, dir string) (tool, error) {
	t := tool{timeout: time.Duration(d.Timeout)}
	p, err := newProgram(d.ResponseJQ)
	if err != nil {
		return tool{}, err
	}
	var templates []*textTemplate
	idempotent := d.Idempotent
	switch d.Type {
	case cascade.ToolShell:
		line, err := parseField("command", template.ModeShell, d.Command)
		if err != nil {
			return tool{}, err
		}
		templates = []*textTemplate{line}
		t.own = true
		t.run = answering((&declaredShell{line: line, program: p, env: env, dir: dir}).run)
	case cascade.ToolHTTP:
		h, err := newHTTP(d, p, env)
		if err != nil {
			return tool{}, err
		}
		templates = h.all
		idempotent = idempotent || h.method == http.MethodGet || h.method == http.MethodHead
		t.run = answering(h.run)
	default:
		return tool{}, fmt.Errorf("type: there are shell and http tools, not %q", d.Type)
	}
	t.spec = effect.ToolSpec{
		Name: d.ToolID, Description: d.Description, Parameters: declaredParameters(d, templates), Idempotent: idempotent,
	}
	return t, nil
}

// declaredParameters returns the declared schema, else one of what the templates mention.
func declaredParameters(d *cascade.Tool, templates []*textTemplate) json.RawMessage {
	if d.InputsSchema != nil {
		return d.InputsSchema.JSONSchema()
	}
	var names []string
	for _, t := range templates {
		names = append(names, t.References()...)
	}
	slices.Sort(names)
	properties := map[string]any{}
	open := false // the arguments are used as a whole, so that their names cannot be known
	for _, n := range slices.Compact(names) {
		switch n {
		case "env":
		case "input":
			open = true
		default:
			properties[n] = struct{}{}
		}
	}
	schema, _ := json.Marshal(map[string]any{ // maps of strings can always be encoded
		"type": "object", "properties": properties, "additionalProperties": open,
	})
	return schema
}

// program is a jq program over a tool's result.
type program struct{ code *jq.Program }

// newProgram compiles a program; none is a nil program.
func newProgram(src string) (*program, error) {
	if src == "" {
		return nil, nil //nolint:nilnil // there need not be a program
	}
	code, err := jq.Compile(src)
	if err != nil {
		return nil, fmt.Errorf("response_jq: %w", err)
	}
	return &program{code}, nil
}

// run applies the program to a JSON text, see [jq.Program.Run].
func (p *program) run(ctx context.Context, data []byte) (string, error) {
	text, err := p.code.Run(ctx, data, maxText)
	switch {
	case errors.Is(err, jq.ErrOutput):
		return "", &failure{kindOutputLimit, fmt.Errorf("response_jq: the result has more than %d KiB; let it choose less", maxText>>10)}
	case errors.Is(err, jq.ErrMemory):
		return "", &failure{kindOutputLimit, fmt.Errorf("response_jq: %w", err)}
	case err != nil:
		return "", fmt.Errorf("response_jq: %w", err)
	}
	return text, nil
}
