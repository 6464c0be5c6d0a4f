package engine

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/verdict"
)

// byCascade has another cascade judge, whose output is the verdict. It is given what its inputs_schema
// names of the question.
func (c *validators) byCascade(ctx context.Context, name, content string) (*echo.Verdict, error) {
	of := c.cascade.Reaches[name]
	input := c.question(content)
	if of != nil && of.Cascade != nil && of.Cascade.InputsSchema != nil {
		if err := verdict.KeepNamed(of.Cascade.InputsSchema.JSONSchema(), input); err != nil {
			return nil, fmt.Errorf("read the inputs_schema of %s: %w", name, err)
		}
	}
	w := &wanted{
		key: c.Here().Named(echo.StepValidate, name), name: name, how: echo.ChildValidator, of: of, input: input, images: c.newestImages(),
	}
	child, err := c.children.start(w)
	if err != nil {
		return nil, err
	}
	out, err := c.children.end(ctx, w.key, child)
	if err != nil {
		return nil, noOutcome(err)
	}
	c.children.run.countChild(out)
	if err := failure(name, out); err != nil {
		return nil, err
	}
	text := echo.AsText(out.Output)
	if vd, ok := c.readVerdict(text); ok {
		return vd, nil
	}
	return c.noVerdict(name, text)
}

// describeCascade tells a model what another cascade judges.
func (c *checks) describeCascade(name string) string {
	text := fmt.Sprintf("the cascade %s must accept your answer", name)
	if of := c.cascade.Reaches[name]; of != nil && of.Cascade != nil && of.Cascade.Description != "" {
		text += " (" + of.Cascade.Description + ")"
	}
	return text
}
