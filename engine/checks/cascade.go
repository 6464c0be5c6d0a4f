package checks

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/verdict"
)

// Children runs the cascades that judge, as sessions of their own.
type Children interface {
	// Judge runs one to its end, counts what it took, and returns its output. A cascade that cannot begin, or did
	// not end well, is an error; where it has come to no end, one made by [NoOutcome].
	Judge(ctx context.Context, c *Child) (output any, err error)
}

// Child is a cascade that is to judge.
type Child struct {
	Key    echo.Key // of its begin and its end
	Name   string
	Of     *cascade.Reached // nil: it was not found when the run began
	Input  map[string]any
	Images []echo.Part // that it is to see, beside its input
}

// byCascade has another cascade judge, whose output is the verdict. It is given what its inputs_schema
// names of the question.
func (c *Validators) byCascade(ctx context.Context, name, content string) (*echo.Verdict, error) {
	of := c.Cascade.Reaches[name]
	input := c.question(content)
	if of != nil && of.Cascade != nil && of.Cascade.InputsSchema != nil {
		if err := verdict.KeepNamed(of.Cascade.InputsSchema.JSONSchema(), input); err != nil {
			return nil, fmt.Errorf("read the inputs_schema of %s: %w", name, err)
		}
	}
	output, err := c.Children.Judge(ctx, &Child{
		Key: c.Here().Named(echo.StepValidate, name), Name: name, Of: of, Input: input, Images: c.newestImages(),
	})
	if err != nil {
		return nil, err
	}
	text := echo.AsText(output)
	if vd, ok := c.readVerdict(text); ok {
		return vd, nil
	}
	return c.noVerdict(name, text)
}

// describeCascade tells a model what another cascade judges.
func (c *Checks) describeCascade(name string) string {
	text := fmt.Sprintf("the cascade %s must accept your answer", name)
	if of := c.Cascade.Reaches[name]; of != nil && of.Cascade != nil && of.Cascade.Description != "" {
		text += " (" + of.Cascade.Description + ")"
	}
	return text
}
