package cascade

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/windlass-run/windlass/cascade/shape"
	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/internal/filetype"
	"github.com/windlass-run/windlass/schema"
)

// CheckInput returns what is wrong with a run's input: what a full JSON Schema forbids, and what a
// template needs that is not there. Names with descriptions are a declaration and forbid nothing.
func (c *Cascade) CheckInput(input map[string]any) []schema.Violation {
	return c.CheckInputContext(context.Background(), input)
}

// CheckInputContext is [Cascade.CheckInput] with a context, whose end is reported as a violation.
func (c *Cascade) CheckInputContext(ctx context.Context, input map[string]any) []schema.Violation {
	if input == nil {
		input = map[string]any{}
	}
	given := maps.Clone(input)
	delete(given, soundings.RefinementInput)
	violations := c.InputsSchema.Match(ctx, given)
	reported := map[string]bool{}
	for _, v := range violations {
		if v.Pointer == "" && v.Keyword == "required" {
			reported[v.Property] = true
		}
	}
	for _, m := range c.missing("input", input) {
		if !reported[m.name] {
			violations = append(violations, c.neededInput(m))
		}
	}
	return violations
}

// neededInput is the violation of an input that templates need.
func (c *Cascade) neededInput(m missing) schema.Violation {
	message := fmt.Sprintf("missing input %q", m.name)
	if c.InputsSchema != nil && c.InputsSchema.Names[m.name] != "" {
		message += " (" + c.InputsSchema.Names[m.name] + ")"
	}
	const shown = 3
	where := strings.Join(m.where[:min(len(m.where), shown)], ", ")
	if more := len(m.where) - shown; more > 0 {
		where += fmt.Sprintf(" and %d more", more)
	}
	return schema.Violation{Keyword: "required", Property: m.whole, Message: message + ": used without default by " + where}
}

// MissingEnv returns the environment variables that templates use without default and that are not
// among those granted, each with the places.
func (c *Cascade) MissingEnv(granted map[string]string) map[string][]string {
	values := make(map[string]any, len(granted))
	for name, v := range granted {
		values[name] = v
	}
	out := map[string][]string{}
	for _, m := range c.missing("env", values) {
		out[m.name] = m.where
	}
	return out
}

// missing is a value that templates look up and that is not there, with the places.
type missing struct {
	name  string // as a template writes it behind the variable
	whole string // the same with what is looked up in it
	where []string
}

// missing returns what every rendering of some template looks up in vain below a variable.
func (c *Cascade) missing(root string, value map[string]any) []missing {
	index := map[string]int{}
	var out []missing
	for _, n := range c.needs {
		if n.Path[0] != root || n.Perhaps {
			continue
		}
		at := shape.Absent(value, n.Path)
		if at < 0 || at < n.Safe {
			continue
		}
		name, ok := n.Path[at].(string)
		if !ok || at > 1 {
			name = strings.TrimPrefix(n.expression(at+1), root+".")
		}
		i, known := index[name]
		if !known {
			i = len(out)
			index[name] = i
			out = append(out, missing{name: name, whole: name})
		}
		if at+1 < len(n.Path) {
			out[i].whole = strings.TrimPrefix(n.expression(len(n.Path)), root+".")
		}
		if k := len(out[i].where); k == 0 || out[i].where[k-1] != n.where {
			out[i].where = append(out[i].where, n.where)
		}
	}
	return out
}

// InputWarnings returns what is probably a mistake in a run's input: inputs that an inputs_schema
// of names does not name.
func (c *Cascade) InputWarnings(input map[string]any) []string {
	given := maps.Clone(input)
	delete(given, soundings.RefinementInput)
	return c.InputsSchema.Unnamed(given)
}

// ReadValue reads an input given as text: as JSON if it is that and no string is wanted.
func (c *Cascade) ReadValue(name, text string) any { return c.InputsSchema.Read(name, text) }

// FileInputs returns the inputs that are files, with what they take.
func (c *Cascade) FileInputs() map[string]filetype.Kind { return c.InputsSchema.Files() }
