package template

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/template/lookup"
	"github.com/windlass-run/windlass/internal/template/quote"
	"github.com/windlass-run/windlass/internal/template/syntax"
	"github.com/windlass-run/windlass/internal/template/value"
)

// Mode is the kind of text that a template makes. It decides how interpolated values are quoted.
type Mode = quote.Mode

// The modes.
const (
	ModeText  = quote.ModeText
	ModeShell = quote.ModeShell
	ModeURL   = quote.ModeURL
	ModeForm  = quote.ModeForm
	ModeJSON  = quote.ModeJSON
)

// Template is a text that was read, for any number of renderings at once.
type Template struct {
	body     syntax.Block // empty when nothing is interpolated
	constant string       // the whole text then
	roots    []string
}

// names are those that the language leaves to its dialect.
var names = syntax.Names{
	Filters:   append(value.FilterNames(), "default", "d", "raw"),
	Functions: []string{"range", "namespace", "dict"},
	Methods:   value.MethodNames(),
	Tests:     value.Tests(),
}

// Parse reads a template for a text. An error is a [*SyntaxError].
func Parse(src string) (*Template, error) { return ParseMode(ModeText, src) }

// ParseShell reads a template for a command line that is run by a POSIX shell.
func ParseShell(src string) (*Template, error) { return ParseMode(ModeShell, src) }

// ParseMode reads a template for one kind of text. An error is a [*SyntaxError].
func ParseMode(mode Mode, src string) (*Template, error) {
	if !strings.Contains(src, "{{") && !strings.Contains(src, "{%") && !strings.Contains(src, "{#") {
		return &Template{constant: src}, nil
	}
	tree, err := syntax.Parse(src, &names)
	if err != nil {
		return nil, err
	}
	if err := quote.Plan(mode, tree.Body); err != nil {
		return nil, err
	}
	return &Template{body: tree.Body, roots: tree.Roots}, nil
}

// References returns the variables that the template mentions and does not bind itself, sorted.
func (t *Template) References() []string { return slices.Clone(t.roots) }

// Lookups returns where the template looks up variables that it does not bind itself.
func (t *Template) Lookups() []lookup.Lookup { return lookup.In(t.body) }

// Uses reports whether the template mentions the variable.
func (t *Template) Uses(name string) bool { return slices.Contains(t.roots, name) }

// Render returns the text, or a [*MissingError] or [*RenderError]. Variables are only read, as
// JSON shows them. Lookups that found nothing in state or outputs are named in the warnings.
func (t *Template) Render(vars map[string]any) (text string, warnings []string, err error) {
	return t.render(&run{vars: vars})
}

// RenderRules1 is [Template.Render] with the hints that runs under rules 1 have recorded: they may
// propose what no template can be given.
func (t *Template) RenderRules1(vars map[string]any) (text string, warnings []string, err error) {
	return t.render(&run{vars: vars, anyHint: true})
}

func (t *Template) render(r *run) (text string, warnings []string, err error) {
	if len(t.body) == 0 {
		return t.constant, nil, nil
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *MissingError:
			warnings, err = r.warnings, p
		case value.Failure:
			warnings, err = r.warnings, renderError(r.place, p.Err)
		default: // a bug of this package, or a value whose own encoding panics
			err = renderError(beginning, fmt.Errorf("the template cannot be rendered: %v", p))
		}
	}()
	renderBlock(&frame{r, newScope(nil)}, t.body)
	if err := r.words.Check(r.out); err != nil {
		return "", r.warnings, renderError(beginning, err)
	}
	return string(r.out), r.warnings, nil
}

// beginning is the place of errors that concern the template as a whole.
var beginning = syntax.Pos{Line: 1, Col: 1}
