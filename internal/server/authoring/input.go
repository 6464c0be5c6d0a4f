package authoring

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/app/input"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/server"
)

// mostFields is how many inputs have a field of their own; others are written as JSON.
const mostFields = 50

// field is one input in the form of a run.
type field struct {
	Name     string
	At       string // its name in the form
	About    string // its description
	Kind     string // text, choice, or json
	Options  []string
	Value    string
	Required bool
}

// declared is as much of a JSON Schema as a form is made of.
type declared struct {
	Properties map[string]struct {
		Type        any    `json:"type"`
		Enum        []any  `json:"enum"`
		Description string `json:"description"`
		Default     any    `json:"default"`
	} `json:"properties"`
	Required []string `json:"required"`
}

// fieldsOf returns the inputs of a cascade that have fields, those that are needed first, with what a form has given, and
// those that are files, which no form can give.
func fieldsOf(ctx context.Context, c *cascade.Cascade, given url.Values) (fields []field, files []string) {
	byName := map[string]field{}
	var s declared
	if c.InputsSchema != nil && c.InputsSchema.Schema != nil {
		_ = json.Unmarshal(c.InputsSchema.Schema, &s) // what is no list of properties has no fields
	}
	kinds := c.FileInputs()
	for name, p := range s.Properties {
		if _, isFile := kinds[name]; isFile {
			files = append(files, name)
			continue
		}
		byName[name] = field{Kind: kindOf(p.Type, p.Enum), Options: textsOf(p.Enum), About: p.Description, Value: textOf(p.Default), Required: slices.Contains(s.Required, name)}
	}
	if c.InputsSchema != nil {
		for name, description := range c.InputsSchema.Names {
			byName[name] = field{Kind: "text", About: description}
		}
	}
	for _, v := range c.CheckInputContext(ctx, nil) {
		if v.Keyword != "required" || v.Pointer != "" {
			continue
		}
		name, below, _ := strings.Cut(v.Property, ".")
		f, known := byName[name]
		if f.Required = true; !known {
			f.Kind = map[bool]string{true: "text", false: "json"}[below == ""]
		}
		if !slices.Contains(files, name) {
			byName[name] = f
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if _, hidden := excerpt.FirstHidden(name); hidden || !utf8.ValidString(name) {
			continue // no form has such a name; it can be among the other inputs
		}
		f := byName[name]
		f.Name, f.At = name, "input."+name
		if given.Has(f.At) {
			f.Value = given.Get(f.At)
		}
		fields = append(fields, f)
	}
	slices.SortStableFunc(fields, func(a, b field) int { return rank(a) - rank(b) })
	return fields[:min(len(fields), mostFields)], files
}

func rank(f field) int {
	if f.Required {
		return 0
	}
	return 1
}

// kindOf returns how a value of a type is written.
func kindOf(kind any, enum []any) string {
	switch {
	case len(enum) > 0:
		return "choice"
	case kind == nil, kind == "string", kind == "integer", kind == "number", kind == "boolean":
		return "text"
	}
	return "json"
}

// textsOf returns values as a person writes them.
func textsOf(values []any) (out []string) {
	for _, v := range values {
		out = append(out, textOf(v))
	}
	return out
}

func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// inputOf returns the input that a form has given: its fields that are not empty, over the object of the others.
func inputOf(c *cascade.Cascade, fields []field, given url.Values) (json.RawMessage, error) {
	values := map[string]any{}
	if more := strings.TrimSpace(given.Get("more")); more != "" {
		var err error
		if values, err = input.Object("the other inputs cannot be read", []byte(more)); err != nil {
			return nil, server.NewProblem(server.BadRequest, `{"name": "value"}`, "%v", err)
		}
	}
	for _, f := range fields {
		text := asSent(given.Get(f.At))
		switch {
		case text == "":
		case f.Kind == "json":
			if !json.Valid([]byte(text)) {
				return nil, server.NewProblem(server.BadRequest, `"text", 1, [1, 2] or {"name": "value"}`, "the input %q is not JSON", f.Name)
			}
			values[f.Name] = json.RawMessage(text)
		default:
			values[f.Name] = c.ReadValue(f.Name, text)
		}
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("encode the input: %w", err)
	}
	return raw, nil
}
