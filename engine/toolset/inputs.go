package toolset

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine/modeltext"
)

// FitType returns a text as the JSON value that it is where a schema wants no text.
func FitType(value, schemaType any) any {
	text, ok := value.(string)
	if !ok || schemaType == nil || schemaType == "string" {
		return value
	}
	if parsed, err := modeltext.Decode([]byte(text)); err == nil {
		return parsed
	}
	return value
}

// InputType returns the type that a cascade's inputs_schema gives an input; nil when it gives none.
func InputType(of *cascade.Reached, name string) any {
	if of == nil || of.Cascade == nil || of.Cascade.InputsSchema == nil || of.Cascade.InputsSchema.Schema == nil {
		return nil
	}
	var s struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(of.Cascade.InputsSchema.Schema, &s) != nil {
		return nil
	}
	return s.Properties[name].Type
}

// InputOf reads the input of a child that is called as a tool.
func InputOf(args json.RawMessage) (map[string]any, error) {
	if len(args) == 0 {
		return map[string]any{}, nil
	}
	value, err := modeltext.Decode(args)
	if err != nil {
		return nil, err
	}
	input, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("its input is %s, and no object", modeltext.Kind(value))
	}
	return input, nil
}

const maxBackoff = 10 * time.Minute

// BackoffDelay is the wait after try n (from 1): base, n*base or base*2^(n-1).
func BackoffDelay(r *cascade.Retry, n int) time.Duration {
	seconds := r.BackoffBaseSeconds
	if seconds <= 0 {
		seconds = 1
	}
	switch r.Backoff {
	case cascade.BackoffLinear:
		seconds *= float64(n)
	case cascade.BackoffExponential:
		seconds = math.Ldexp(seconds, min(n-1, 30))
	default:
		return 0
	}
	return time.Duration(min(seconds, maxBackoff.Seconds()) * float64(time.Second))
}
