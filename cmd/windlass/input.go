package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/config/strict"
	"github.com/windlass-run/windlass/internal/source"
)

// maxInputBytes bounds an input file; what a run is told should fit a prompt.
const maxInputBytes = 32 << 20

// readInput merges the ways to give input: the file, then --input-json, then single values, the later ones winning.
func readInput(stdin io.Reader, c *cascade.Cascade, o runOptions) (map[string]any, error) {
	out := map[string]any{}
	if o.inputFile != "" {
		in, err := readInputFile(stdin, o.inputFile)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, in)
	}
	if o.inputJSON != "" {
		in, err := decodeObject("--input-json", []byte(o.inputJSON))
		if err != nil {
			return nil, err
		}
		maps.Copy(out, in)
	}
	for _, pair := range o.inputs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--input %q: expected NAME=VALUE", pair)
		}
		out[name] = c.ReadValue(name, value)
	}
	return out, nil
}

func readInputFile(stdin io.Reader, path string) (map[string]any, error) {
	r := stdin
	if path != "-" {
		f, err := source.Open(path)
		if err != nil {
			return nil, fmt.Errorf("--input-file: %w", err)
		}
		defer f.Close() //nolint:errcheck // only read from
		r = f
	}
	data, err := io.ReadAll(io.LimitReader(r, maxInputBytes+1))
	if err != nil {
		return nil, fmt.Errorf("--input-file %s: %w", path, err)
	}
	if len(data) > maxInputBytes {
		return nil, fmt.Errorf("--input-file %s: larger than %d MiB", path, maxInputBytes>>20)
	}
	if strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml") {
		if data, err = jsonOfYAML(path, data); err != nil {
			return nil, fmt.Errorf("--input-file %w", err)
		}
	}
	return decodeObject("--input-file "+path, data)
}

// jsonOfYAML reads YAML within the bounds that cascades have, too: a few hundred bytes of aliases can stand for gigabytes.
func jsonOfYAML(path string, data []byte) ([]byte, error) {
	f := strict.Parse(path, data)
	if err := f.Err(); err != nil {
		return nil, err
	}
	return f.Root().JSON(nil), nil
}

// decodeObject reads one JSON object and nothing after it, with its numbers exact.
func decodeObject(where string, data []byte) (map[string]any, error) {
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

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
