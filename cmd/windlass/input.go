package main

import (
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/app/input"
	"github.com/windlass-run/windlass/internal/source"
)

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
		in, err := input.Object("--input-json", []byte(o.inputJSON))
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
	out, err := input.Read(path, r)
	if err != nil {
		return nil, fmt.Errorf("--input-file %w", err)
	}
	return out, nil
}
