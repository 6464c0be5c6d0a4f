package engine

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/windlass-run/windlass/schema"
)

// schemaCache compiles each schema of a run once. It belongs to the run's goroutine.
type schemaCache map[string]*schema.Schema

// check returns what is wrong with a JSON value, nothing if it matches. It ends with ctx.
func (c schemaCache) check(ctx context.Context, raw json.RawMessage, value []byte) ([]schema.Violation, error) {
	s, ok := c[string(raw)]
	if !ok {
		var err error
		if s, err = schema.Compile(raw); err != nil {
			return nil, err
		}
		c[string(raw)] = s
	}
	return s.ValidateContext(ctx, value)
}

// bullets lists violations, a line each.
func bullets(vs []schema.Violation) string {
	var b strings.Builder
	for i, v := range vs {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("- " + v.String())
	}
	return b.String()
}
