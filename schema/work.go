package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// The bounds of one check.
const (
	maxWork    = 2_000_000  // steps: one for each value that meets a subschema, and more for what takes longer
	maxNesting = 1000       // of a value
	maxMatch   = 1 << 30    // instructions of all patterns, times the bytes of the longest text
	maxNamed   = 20_000_000 // patterns of property names, times properties
	maxLoose   = 10_000     // items of an array, where the library compares them itself
	perCheck   = 1024       // steps between two looks at the context
	noLimit    = 1<<63 - 1  // of the schemas that come with windlass: their work is linear in the value's size
)

// errBeyond ends a check that takes too much work.
var errBeyond = errors.New("the check takes too much work")

// meter counts the work of one check at a time, and ends it by a panic that compiledForm.run
// recovers: the library has no other way out.
type meter struct {
	ctx   context.Context //nolint:containedctx // of the one check that it is lent to
	done  int
	next  int // when to look at the context
	limit int

	factor int    // what a step counts as, at the depth that was last looked at
	skip   int    // visits to the next look at the depth
	random uint32 // decides how many these are
}

// stopped is what a meter panics with.
type stopped struct{ err error }

// visit counts n steps. The library writes the path to each violation in time that grows with the
// square of its length. Asking for it costs as much, so it is sampled, unforeseeably for a schema.
func (m *meter) visit(n int, way func() int) {
	if m.skip--; m.skip < 0 {
		m.random = m.random*1664525 + 1013904223
		m.skip = int(m.random >> 26)
		length := way()
		m.factor = 1 + length*length/12_000
	}
	m.spend(n * m.factor)
}

func (m *meter) spend(n int) {
	m.done += n
	if m.done > m.limit || m.done < 0 {
		panic(stopped{errBeyond})
	}
	if m.done >= m.next {
		m.next = m.done + perCheck
		if err := m.ctx.Err(); err != nil {
			panic(stopped{err})
		}
	}
}

// metered is a keyword of every subschema. It counts, and replaces uniqueItems, for which the
// library may compare every item with every other.
type metered struct {
	meter  *meter
	cost   int // of each visit: what the keywords of the subschema say, in 64 bytes
	unique bool
}

type meterCompiler struct {
	meter  *meter
	unique int // subschemas with uniqueItems
}

// Compile implements jsonschema.ExtCompiler.
func (c *meterCompiler) Compile(_ jsonschema.CompilerContext, m map[string]any) (jsonschema.ExtSchema, error) {
	k := &metered{meter: c.meter, cost: 1 + len(m)}
	for key, v := range m {
		k.cost += weight(key, v) / 64
	}
	if m["uniqueItems"] == true {
		c.unique++
	}
	return k, nil
}

// weight is how many bytes a visit handles for a keyword, roughly, without subschemas.
func weight(key string, v any) int {
	switch v := v.(type) {
	case string:
		if key == "pattern" {
			return patternSize(v)
		}
	case []any:
		n := 16 * len(v)
		if isData(key) || key == "required" {
			for _, x := range v {
				n += sizeInBytes(x)
			}
		}
		return n
	case map[string]any:
		if key == "const" {
			return sizeInBytes(v)
		}
		return 16 * len(v)
	}
	return 0
}

func sizeInBytes(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(b)
}

// Validate implements jsonschema.ExtSchema.
func (k *metered) Validate(ctx jsonschema.ValidationContext, v any) error {
	n := k.cost
	switch v := v.(type) {
	case string:
		n += len(v) / 64 * k.cost
	case map[string]any:
		n += len(v) / 4 * k.cost
	case []any:
		n += len(v) / 4
		if k.unique && k.repeats(v) {
			return ctx.Error("uniqueItems", "two items are equal")
		}
	}
	k.meter.visit(n, func() int { return len(ctx.Error("", "").KeywordLocation) })
	return nil
}

func (k *metered) repeats(items []any) bool {
	seen := make(map[string]struct{}, len(items))
	var b []byte
	for _, item := range items {
		b = canonical(b[:0], item)
		k.meter.spend(1 + len(b)/64)
		if _, ok := seen[string(b)]; ok {
			return true
		}
		seen[string(b)] = struct{}{}
	}
	return false
}

// exact writes a number so that equal numbers are written alike.
func exact(n json.Number) string {
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		return n.String()
	}
	return r.RatString()
}

// compiledForm is a compiled schema and the meter that its keywords count with.
type compiledForm struct {
	root  *jsonschema.Schema
	meter *meter
	loose bool // the library compares the items of some arrays itself
}

const maxKept = 8

// take lends a form to one check: the state of a check is in the keywords of its form.
func (s *Schema) take() (*compiledForm, error) {
	select {
	case form := <-s.free:
		return form, nil
	default:
		return compile(s.raw)
	}
}

func (s *Schema) put(form *compiledForm) {
	form.meter.ctx = nil
	select {
	case s.free <- form:
	default:
	}
}

// takeOver moves uniqueItems of reachable subschemas into our keyword and counts them. It removes
// contentSchema, which the library applies in drafts that do not have it.
func takeOver(root *jsonschema.Schema) int {
	seen := map[*jsonschema.Schema]bool{}
	todo := []*jsonschema.Schema{root}
	found := 0
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s == nil || seen[s] {
			continue
		}
		seen[s] = true
		s.ContentSchema = nil
		if k, ok := s.Extensions[meterName].(*metered); ok && s.UniqueItems {
			s.UniqueItems, k.unique = false, true
			found++
		}
		todo = append(todo, children(s)...)
	}
	return found
}

func children(s *jsonschema.Schema) []*jsonschema.Schema {
	out := []*jsonschema.Schema{
		s.Ref, s.RecursiveRef, s.DynamicRef, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties,
		s.Items2020, s.Contains, s.UnevaluatedItems,
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems} {
		out = append(out, list...)
	}
	out = slices.AppendSeq(out, maps.Values(s.Properties))
	out = slices.AppendSeq(out, maps.Values(s.DependentSchemas))
	for _, x := range s.PatternProperties {
		out = append(out, x)
	}
	loose := slices.AppendSeq([]any{s.AdditionalProperties, s.AdditionalItems, s.Items}, maps.Values(s.Dependencies))
	for _, x := range loose {
		switch x := x.(type) {
		case *jsonschema.Schema:
			out = append(out, x)
		case []*jsonschema.Schema:
			out = append(out, x...)
		}
	}
	return out
}

const meterName = "windlass-meter"

// beyondValue says in what way a value is beyond the bounds of a check, nothing when it is not.
func (s *Schema) beyondValue(form *compiledForm, e extent) []Violation {
	const less = "send less in one value"
	match, named := s.census.pattern*e.text, s.census.names*e.members
	switch {
	case e.depth > maxNesting:
		return []Violation{beyond("the value is nested too deeply", e.depth, maxNesting, "nest it less")}
	case s.own:
		return nil
	case match > maxMatch:
		return []Violation{beyond("the schema's patterns are too large for a text of this length", match, maxMatch, less)}
	case named > maxNamed:
		return []Violation{beyond("patternProperties has too many patterns for this number of properties", named, maxNamed, less)}
	case form.loose && e.items > maxLoose:
		return []Violation{beyond("too many items to compare for uniqueItems", e.items, maxLoose, less)}
	}
	return nil
}

func tooMuch(m *meter) []Violation {
	return []Violation{{Keyword: KeywordBound, Message: fmt.Sprintf(
		"checking the value takes too much work: ended after %d steps, at most %d are done; "+
			"send a smaller value, or use a schema with fewer anyOf, oneOf, allOf and $ref inside each other", m.done, m.limit)}}
}

// run calls check, which counts with the form's meter, and says so when the meter has ended it.
func (f *compiledForm) run(check func() ([]Violation, error)) (violations []Violation, err error) {
	defer func() {
		r := recover()
		end, ok := r.(stopped)
		switch {
		case r == nil:
		case !ok:
			panic(r)
		case errors.Is(end.err, errBeyond):
			violations, err = tooMuch(f.meter), nil
		default:
			violations, err = nil, fmt.Errorf("check a value against its schema: %w", end.err)
		}
	}()
	return check()
}
