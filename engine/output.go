package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// extractJSON finds the JSON value that an answer is meant to be: the whole text, else the last ```json block that
// holds one, else the widest stretch from a bracket to its counterpart. ok is false when there is none.
func extractJSON(text string) (raw json.RawMessage, ok bool) {
	whole := strings.TrimSpace(text)
	if json.Valid([]byte(whole)) {
		return json.RawMessage(whole), true
	}
	blocks := jsonBlocks(text)
	for i := len(blocks) - 1; i >= 0; i-- {
		if b := strings.TrimSpace(blocks[i]); json.Valid([]byte(b)) {
			return json.RawMessage(b), true
		}
	}
	for _, pair := range []string{"{}", "[]"} {
		from, to := strings.IndexByte(whole, pair[0]), strings.LastIndexByte(whole, pair[1])
		if from >= 0 && to > from && json.Valid([]byte(whole[from:to+1])) {
			return json.RawMessage(whole[from : to+1]), true
		}
	}
	return nil, false
}

// checkSchema reads an answer by the phase's output_schema. The reason quotes every violation, for the model.
func (v *visit) checkSchema(ctx context.Context, text string) (value any, reason string, err error) {
	raw, ok := extractJSON(text)
	if !ok {
		return nil, "it is not JSON: there is no JSON value in the text. " +
			"Answer with one JSON value that matches the schema, and nothing else.", nil
	}
	violations, err := v.schemas.check(ctx, v.phase.OutputSchema, raw)
	if err != nil {
		return nil, "", fmt.Errorf("check output_schema: %w", err)
	}
	if len(violations) > 0 {
		return nil, "it does not match the schema:\n" + bullets(violations), nil
	}
	value, err = decodeJSON(raw)
	return value, "", err
}

// decodeJSON reads a JSON value and keeps numbers exact.
func decodeJSON(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	return value, nil
}

// structured returns a tool's text as a value: parsed when it is a JSON object or array, else as it is.
func structured(text string) any {
	t := strings.TrimSpace(text)
	if t == "" || (t[0] != '{' && t[0] != '[') {
		return text
	}
	value, err := decodeJSON([]byte(t))
	if err != nil || !json.Valid([]byte(t)) {
		return text
	}
	return value
}
