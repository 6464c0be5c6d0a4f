package toolset

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/schema"
)

// Schemas compiles each schema of a run once. It is safe for concurrent use.
type Schemas struct {
	mu       sync.Mutex
	compiled map[string]*schema.Schema
}

// Check returns how a value does not match a schema.
func (c *Schemas) Check(ctx context.Context, raw json.RawMessage, value []byte) ([]schema.Violation, error) {
	s, err := c.compile(raw)
	if err != nil {
		return nil, err
	}
	return s.ValidateContext(ctx, value)
}

func (c *Schemas) compile(raw json.RawMessage) (*schema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.compiled[string(raw)]; ok {
		return s, nil
	}
	s, err := schema.Compile(raw)
	if err != nil {
		return nil, err
	}
	if c.compiled == nil {
		c.compiled = map[string]*schema.Schema{}
	}
	c.compiled[string(raw)] = s
	return s, nil
}

// Bullets lists violations, one a line.
func Bullets(vs []schema.Violation) string {
	lines := make([]string, len(vs))
	for i, v := range vs {
		lines[i] = "- " + v.String()
	}
	return strings.Join(lines, "\n")
}

// CheckArguments checks arguments against the tool's schema. The problem is for the model.
func (c *Schemas) CheckArguments(ctx context.Context, spec effect.ToolSpec, text string) (args json.RawMessage, problem string, err error) {
	args = json.RawMessage(strings.TrimSpace(text))
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if !json.Valid(args) {
		return nil, fmt.Sprintf("The arguments of %s are not valid JSON. Send one JSON object that matches this schema: %s",
			spec.Name, spec.Parameters), nil
	}
	if args[0] != '{' {
		return nil, fmt.Sprintf("The arguments of %s must be a JSON object that matches this schema: %s", spec.Name, spec.Parameters), nil
	}
	violations, err := c.Check(ctx, spec.Parameters, args)
	if err != nil {
		return nil, "", fmt.Errorf("check arguments of tool %s: %w", spec.Name, err)
	}
	if len(violations) == 0 {
		return args, "", nil
	}
	return nil, fmt.Sprintf("The arguments of %s do not match its schema:\n%s\nCorrect them and call it again. The schema is: %s",
		spec.Name, Bullets(violations), spec.Parameters), nil
}

// Repeats remembers what the calls of a phase came to.
type Repeats map[string]PastCall

// PastCall is what a call came to, and where it was made.
type PastCall struct {
	Result        echo.Hash
	Attempt, Turn int
}

// Seen records a call and returns where it last had the same result, if in another turn.
func (r Repeats) Seen(c echo.ToolCall, now PastCall) (before PastCall, ok bool) {
	id := c.Name + "\x00" + CompactJSON(c.Arguments)
	before, ok = r[id]
	r[id] = now
	return before, ok && before.Result == now.Result && before.Turn != now.Turn
}

// CompactJSON removes insignificant white space; text that is not JSON stays as it is.
func CompactJSON(s string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(s)); err != nil {
		return s
	}
	return b.String()
}
