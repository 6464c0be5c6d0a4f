package engine

import (
	"context"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/checks"
)

// Judge implements [checks.Children].
func (c *children) Judge(ctx context.Context, j *checks.Child) (any, error) {
	child, err := c.start(&wanted{key: j.Key, name: j.Name, how: echo.ChildValidator, of: j.Of, input: j.Input, images: j.Images})
	if err != nil {
		return nil, err
	}
	out, err := c.end(ctx, j.Key, child)
	if err != nil {
		return nil, checks.NoOutcome(err)
	}
	c.run.countChild(out)
	return out.Output, failure(j.Name, out)
}
