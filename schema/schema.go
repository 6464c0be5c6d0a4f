// Package schema holds the JSON Schema of cascade files and checks any JSON value against any
// schema.
//
// It compiles drafts 4 to 2020-12, which is the default, and loads nothing: a $ref out of the
// schema is an error. The order of [Violation]s depends on nothing but the schema and the value.
//
// Schemas and values may be hostile. A schema beyond the bounds of its size is not compiled, and a
// check that takes too much work is ended; either is a violation with [KeywordBound]. A check also
// ends with its context.
package schema

import (
	"context"
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

// The compiled schemas of the language. Those of a part are that part of the cascade schema.
var (
	Cascade = sync.OnceValue(func() *Schema { return embedded("") })             // of cascade files
	Tool    = sync.OnceValue(func() *Schema { return embedded("Tool") })         // of files that declare one tool
	Intra   = sync.OnceValue(func() *Schema { return embedded("IntraContext") }) // of settings that stand by themselves
)

// embedded is the cascade schema or, when it is named, one of its definitions. It is compiled when a
// value is not accepted without that, see [plain].
func embedded(definition string) *Schema {
	raw := []byte(cascadeJSON)
	if definition != "" {
		var doc struct {
			Definitions json.RawMessage `json:"$defs"`
		}
		_ = json.Unmarshal(raw, &doc) // An error leaves nothing that compiles.
		raw = fmt.Appendf(nil, `{"$ref": "#/$defs/%s", "$defs": %s}`, definition, doc.Definitions)
	}
	doc, err := decode(raw)
	if err != nil {
		panic(fmt.Sprintf("the embedded cascade schema: %v", err)) // A test compiles it.
	}
	return &Schema{raw: raw, free: make(chan *compiledForm, maxKept), doc: doc, url: documentURL(doc), census: takeCensus(doc), own: true, plain: true}
}

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	raw    []byte
	free   chan *compiledForm // that no check uses
	doc    any                // the decoded schema, for what a violated keyword says
	url    string             // what keyword locations in doc start with
	census *census
	own    bool // it comes with windlass, and its work is linear in the value's size
	plain  bool // it has only keywords that are checked without compiling it, see [plain]
}

// Size returns the number of subschemas, of which there can be [MaxSubschemas].
func (s *Schema) Size() int { return s.census.size() }

// InvalidError says that a document is no usable schema. Its pointers lead into the document.
type InvalidError struct {
	Violations []Violation // never empty
}

func (e *InvalidError) Error() string {
	return "not a valid JSON Schema: " + Join(e.Violations, 3)
}

// ErrNotJSON is wrapped when an input of [Schema.Validate] or [Compile] is no JSON value.
var ErrNotJSON = errors.New("not valid JSON")

// Compile prepares a schema for use. The error is an [InvalidError] or wraps [ErrNotJSON].
func Compile(raw json.RawMessage) (*Schema, error) { return prepare(raw, false) }

// CompileOwn is [Compile] for a schema of windlass, whose work is linear, for values of any size.
func CompileOwn(raw json.RawMessage) (*Schema, error) { return prepare(raw, true) }

func prepare(raw json.RawMessage, own bool) (*Schema, error) {
	doc, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	counted, bad := bounded(doc, len(raw))
	if len(bad) == 0 {
		bad = precheck(doc)
	}
	if len(bad) > 0 {
		return nil, &InvalidError{Violations: bad}
	}
	s := &Schema{raw: raw, free: make(chan *compiledForm, maxKept), doc: doc, url: documentURL(doc), census: counted, plain: isSimple(doc), own: own}
	if s.plain {
		return s, nil // it is compiled when a value is not accepted without
	}
	form, err := s.take() // the first is kept for the first check
	if err != nil {
		return nil, &InvalidError{Violations: compileViolations(doc, err)}
	}
	s.put(form)
	return s, nil
}

// inlineURL is the base of schemas without an $id; a relative one would show the work directory.
const inlineURL = "https://windlass.run/schema/inline.json"

func documentURL(doc any) string {
	if m, ok := doc.(map[string]any); ok {
		if id, ok := m["$id"].(string); ok && strings.Contains(id, "://") {
			return strings.TrimSuffix(id, "#")
		}
	}
	return inlineURL
}

type refusedError struct{ url string }

func (e *refusedError) Error() string {
	return fmt.Sprintf("%q is outside this schema, and nothing is loaded from elsewhere", e.url)
}

func compile(raw []byte) (form *compiledForm, err error) {
	// The library trusts a schema that the meta-schema accepts; one that slips through may panic.
	defer func() {
		if r := recover(); r != nil {
			form, err = nil, fmt.Errorf("the schema cannot be compiled: %v", r)
		}
	}()
	meters := &meterCompiler{meter: &meter{}}
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.Formats["regex"] = isPattern
	c.RegisterExtension(meterName, nil, meters)
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, &refusedError{url: url} }
	if err := c.AddResource(inlineURL, strings.NewReader(string(raw))); err != nil {
		return nil, err
	}
	root, err := c.Compile(inlineURL)
	if err != nil {
		return nil, err
	}
	return &compiledForm{root: root, meter: meters.meter, loose: takeOver(root) < meters.unique}, nil
}

func compileViolations(doc any, err error) []Violation {
	var ve *jsonschema.ValidationError
	if errors.As(err, &ve) {
		c := collector{instance: doc}
		return normalize(c.walk(ve))
	}
	var refused *refusedError
	if errors.As(err, &refused) {
		pointer := findString(doc, func(key, value string) bool {
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

// Validate is [Schema.ValidateContext] without a context.
func (s *Schema) Validate(data []byte) ([]Violation, error) {
	return s.ValidateContext(context.Background(), data)
}

// ValidateContext checks a JSON document. The error wraps [ErrNotJSON] or that of the context.
func (s *Schema) ValidateContext(ctx context.Context, data []byte) ([]Violation, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("check a value against its schema: %w", err)
	}
	instance, err := decode(data)
	if err != nil {
		return nil, err
	}
	var size extent
	size.walk(instance, 1)
	if s.plain && (s.own || len(data) <= maxSimpleBytes) && size.depth <= maxNesting && len(badNumbers(instance)) == 0 {
		switch valid, err := s.accepts(ctx, instance); {
		case err != nil:
			return nil, fmt.Errorf("check a value against its schema: %w", err)
		case valid:
			return nil, nil
		}
	}
	form, err := s.take()
	if err != nil {
		return nil, fmt.Errorf("validate against the schema: %w", err)
	}
	defer s.put(form)
	if bad := s.beyondValue(form, size); len(bad) > 0 {
		return bad, nil
	}
	if bad := badNumbers(instance); len(bad) > 0 {
		return bad, nil
	}
	limit := maxWork
	if s.own {
		limit = noLimit
	}
	*form.meter = meter{ctx: ctx, limit: limit, next: perCheck, factor: 1}
	return form.run(func() ([]Violation, error) { return s.violations(form, instance) })
}

// violations checks a value with a form of the schema.
func (s *Schema) violations(form *compiledForm, instance any) ([]Violation, error) {
	err := form.root.Validate(instance)
	if err == nil {
		return nil, nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return nil, fmt.Errorf("validate against the schema: %w", err)
	}
	c := collector{doc: s.doc, url: s.url, instance: instance, meter: form.meter}
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
