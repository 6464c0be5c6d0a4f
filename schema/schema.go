// Package schema holds the JSON Schema of cascade files and checks any JSON value against any schema.
//
// It compiles schemas of drafts 4 to 2020-12 (2020-12 when a schema does not say) and never loads anything: a $ref that
// leaves the schema is an error. What is wrong with a value comes back as [Violation]s with JSON pointers and messages
// that a person or a model can act on, in an order that depends on nothing but the schema and the value.
//
// The package imports nothing else of windlass.
package schema

import (
	_ "embed" // the cascade schema
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// CascadeURL is the $id of the cascade schema.
const CascadeURL = "https://windlass.run/schema/cascade.schema.json"

//go:embed cascade.schema.json
var cascadeJSON string

// CascadeJSON returns the text of the cascade schema.
func CascadeJSON() []byte { return []byte(cascadeJSON) }

// Cascade returns the compiled schema of cascade files.
var Cascade = sync.OnceValue(func() *Schema {
	s, err := Compile([]byte(cascadeJSON))
	if err != nil {
		panic(fmt.Sprintf("the embedded cascade schema: %v", err)) // A test compiles it.
	}
	return s
})

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	doc      any    // the decoded schema, for what a violated keyword says
	url      string // what keyword locations in doc start with
}

// InvalidError says that a document is not a schema that can be used. The pointers of its violations lead into the
// document.
type InvalidError struct {
	Violations []Violation // never empty
}

func (e *InvalidError) Error() string {
	return "not a valid JSON Schema: " + Join(e.Violations, 3)
}

// ErrNotJSON is what [Schema.Validate] and [Compile] wrap when their input is no JSON value.
var ErrNotJSON = errors.New("not valid JSON")

// Compile prepares a schema for use. The error is an [InvalidError] or wraps [ErrNotJSON].
func Compile(raw json.RawMessage) (*Schema, error) {
	doc, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	if bad := precheck(doc); len(bad) > 0 {
		return nil, &InvalidError{Violations: bad}
	}
	s := &Schema{doc: doc, url: documentURL(doc)}
	if s.compiled, err = compile(raw); err != nil {
		return nil, &InvalidError{Violations: compileViolations(doc, err)}
	}
	return s, nil
}

// inlineURL is the base of schemas without an $id. It is absolute: a relative one is resolved by the library against
// the working directory, which would then show in messages.
const inlineURL = "https://windlass.run/schema/inline.json"

func documentURL(doc any) string {
	if m, ok := doc.(map[string]any); ok {
		if id, ok := m["$id"].(string); ok && strings.Contains(id, "://") {
			return strings.TrimSuffix(id, "#")
		}
	}
	return inlineURL
}

// refusedError is what a $ref out of the schema meets.
type refusedError struct{ url string }

func (e *refusedError) Error() string {
	return fmt.Sprintf("%q is outside this schema, and nothing is loaded from elsewhere", e.url)
}

func compile(raw []byte) (compiled *jsonschema.Schema, err error) {
	// The library checks schemas against the meta-schema and then trusts them; a schema that slips through must not
	// take the process down.
	defer func() {
		if r := recover(); r != nil {
			compiled, err = nil, fmt.Errorf("the schema cannot be compiled: %v", r)
		}
	}()
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, &refusedError{url: url} }
	if err := c.AddResource(inlineURL, strings.NewReader(string(raw))); err != nil {
		return nil, err
	}
	return c.Compile(inlineURL)
}

// compileViolations explains a failed compilation with places in the schema.
func compileViolations(doc any, err error) []Violation {
	var ve *jsonschema.ValidationError
	if errors.As(err, &ve) {
		c := collector{instance: doc}
		return normalize(c.walk(ve))
	}
	var refused *refusedError
	if errors.As(err, &refused) {
		pointer := findString(doc, "", func(key, value string) bool {
			return isRefKey(key) && value != "" && strings.HasSuffix(refused.url, strings.TrimSuffix(value, "#")) ||
				key == "$schema" && strings.TrimSuffix(value, "#") == refused.url
		})
		return []Violation{{Pointer: pointer, Keyword: "$ref", Message: refused.Error()}}
	}
	var se *jsonschema.SchemaError
	if errors.As(err, &se) && se.Err != nil {
		err = se.Err
	}
	return []Violation{{Keyword: "$schema", Message: strings.TrimPrefix(err.Error(), "jsonschema: ")}}
}

// Validate checks a JSON document. No violations means that it is valid. The error wraps [ErrNotJSON] when data is not
// one JSON value.
func (s *Schema) Validate(data []byte) ([]Violation, error) {
	instance, err := decode(data)
	if err != nil {
		return nil, err
	}
	if bad := badNumbers(instance, ""); len(bad) > 0 {
		return bad, nil
	}
	err = s.compiled.Validate(instance)
	if err == nil {
		return nil, nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return nil, fmt.Errorf("validate against the schema: %w", err)
	}
	c := collector{doc: s.doc, url: s.url, instance: instance}
	return normalize(c.walk(ve)), nil
}

// decode reads exactly one JSON value and keeps numbers as they are written.
func decode(data []byte) (any, error) {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotJSON, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: something follows the value", ErrNotJSON)
	}
	return v, nil
}
