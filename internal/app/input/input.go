// Package input reads the inputs of runs: JSON objects, and files with them.
package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/windlass-run/windlass/internal/config/strict"
)

// maxBytes bounds an input file; what a run is given should fit a prompt.
const maxBytes = 32 << 20

// Read reads an object from r, which name names: as YAML when the name ends like that of a YAML
// file, else as JSON. An error begins with the name.
func Read(name string, r io.Reader) (map[string]any, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%s: larger than %d MiB", name, maxBytes>>20)
	}
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		if data, err = jsonOfYAML(name, data); err != nil {
			return nil, err
		}
	}
	return Object(name, data)
}

// jsonOfYAML reads YAML within the bounds that cascades have, too: a few hundred bytes of aliases
// can stand for gigabytes.
func jsonOfYAML(path string, data []byte) ([]byte, error) {
	f := strict.Parse(path, data)
	if err := f.Err(); err != nil {
		return nil, err
	}
	return f.Root().JSON(nil), nil
}

// Object reads one JSON object and nothing after it, with its numbers exact. An error begins with
// where, which names what data is of.
func Object(where string, data []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	err := dec.Decode(&value)
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: expected a JSON object, got nothing", where)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%s: expected a JSON object: it ends in the middle", where)
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("%s: expected a JSON object: character %d: %w", where, syntax.Offset, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	out, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: expected a JSON object, got %s", where, kindOf(value))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: there is more after the JSON object", where)
	}
	return out, nil
}

// kindOf names the kind of a JSON value.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case []any:
		return "an array"
	case string:
		return "a string"
	case bool:
		return "true or false"
	default:
		return "a number"
	}
}
