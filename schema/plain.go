package schema

import (
	"context"
	"encoding/json"
	"math/big"
	"regexp"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
)

// plain says of a value that a schema of windlass accepts it, by the decoded schema alone: to
// compile one takes the library longer than all else that a cascade is loaded with. It knows the
// keywords that those schemas have. A value that it does not accept may be valid all the same: that
// and what is wrong with it is for the library to say.
//
// It is used by one goroutine, for one value.
type plain struct {
	ctx      context.Context //nolint:containedctx // of the one check that it is made for
	doc      any
	patterns map[string]*regexp.Regexp
	left     int   // values to the next look at the context
	ended    error // why the context has ended
}

// accepts reports that a value is valid, and nothing when it returns false. The error is that of the
// context.
func (s *Schema) accepts(ctx context.Context, value any) (bool, error) {
	p := &plain{ctx: ctx, doc: s.doc, left: perCheck}
	return p.accepts(s.doc, value), p.ended
}

func (p *plain) accepts(schema, value any) bool {
	if p.left--; p.left == 0 {
		p.left, p.ended = perCheck, p.ctx.Err()
	}
	if p.ended != nil {
		return false
	}
	switch schema := schema.(type) {
	case bool:
		return schema
	case map[string]any:
		for keyword, operand := range schema {
			if !p.keyword(schema, keyword, operand, value) {
				return false
			}
		}
		return true
	}
	return false
}

// keyword applies one keyword. Those about values of another type accept a value.
func (p *plain) keyword(schema map[string]any, keyword string, operand, value any) bool {
	switch keyword {
	case "$schema", "$id", "$defs", "title", "description", "default", "examples":
		return true
	case "$ref":
		ref, _ := operand.(string)
		pointer, local := strings.CutPrefix(ref, "#")
		target, found := lookup(p.doc, source.SplitPointer(pointer))
		return local && strings.HasPrefix(pointer, "/") && found && p.accepts(target, value)
	case "anyOf":
		forms, _ := operand.([]any)
		for _, form := range forms {
			if p.accepts(form, value) {
				return true
			}
		}
		return false
	case "type":
		return hasType(operand, value)
	case "enum":
		return isAmong(operand, value)
	}
	switch value := value.(type) {
	case map[string]any:
		return p.object(schema, keyword, operand, value)
	case []any:
		return p.array(keyword, operand, value)
	case string:
		return p.text(keyword, operand, value)
	case json.Number:
		return inRange(keyword, operand, value)
	}
	return isTyped(keyword)
}

// isTyped reports whether a keyword is one of those about values of one type.
func isTyped(keyword string) bool {
	switch keyword {
	case "properties", "required", "additionalProperties", "minProperties", "items", "minItems", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return true
	}
	return false
}

func (p *plain) object(schema map[string]any, keyword string, operand any, value map[string]any) bool {
	switch keyword {
	case "properties":
		known, _ := operand.(map[string]any)
		for name, of := range known {
			if v, has := value[name]; has && !p.accepts(of, v) {
				return false
			}
		}
		return known != nil
	case "required":
		names, _ := operand.([]any)
		for _, name := range names {
			text, _ := name.(string)
			if _, has := value[text]; !has {
				return false
			}
		}
		return names != nil
	case "additionalProperties":
		known, _ := schema["properties"].(map[string]any)
		for name, v := range value {
			if _, is := known[name]; !is && !p.accepts(operand, v) {
				return false
			}
		}
		return schema["patternProperties"] == nil
	case "minProperties":
		return isAtLeast(len(value), operand)
	}
	return isTyped(keyword)
}

func (p *plain) array(keyword string, operand any, value []any) bool {
	switch keyword {
	case "items":
		for _, v := range value {
			if !p.accepts(operand, v) {
				return false
			}
		}
		return true
	case "minItems":
		return isAtLeast(len(value), operand)
	}
	return isTyped(keyword)
}

func isAtLeast(n int, operand any) bool {
	number, _ := operand.(json.Number)
	least, err := number.Int64()
	return err == nil && int64(n) >= least
}

func (p *plain) text(keyword string, operand any, value string) bool {
	if keyword != "pattern" {
		return isTyped(keyword)
	}
	text, _ := operand.(string)
	pattern := p.patterns[text]
	if pattern == nil {
		var err error
		if pattern, err = regexp.Compile(text); err != nil {
			return false
		}
		if p.patterns == nil {
			p.patterns = map[string]*regexp.Regexp{}
		}
		p.patterns[text] = pattern
	}
	return pattern.MatchString(value)
}

// hasType reports whether a value has the one type that a schema names.
func hasType(name, value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return name == "object"
	case []any:
		return name == "array"
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case json.Number:
		return name == "number" || name == "integer" && !strings.ContainsAny(value.String(), ".eE")
	}
	return false
}

// isAmong reports whether a text or a truth value is one of an enum.
func isAmong(enum, value any) bool {
	switch value.(type) {
	case string, bool:
	default:
		return false
	}
	values, _ := enum.([]any)
	for _, v := range values {
		if v == value { // of a list or an object the types differ, and nothing is compared
			return true
		}
	}
	return false
}

// inRange applies a keyword to a number.
func inRange(keyword string, operand any, value json.Number) bool {
	bound, isNumber := operand.(json.Number)
	if !isNumber {
		return isTyped(keyword) && keyword != "minimum" && keyword != "maximum" && keyword != "exclusiveMinimum" && keyword != "exclusiveMaximum"
	}
	v, known := new(big.Rat).SetString(value.String())
	b, sound := new(big.Rat).SetString(bound.String())
	if !known || !sound {
		return false
	}
	switch order := v.Cmp(b); keyword {
	case "minimum":
		return order >= 0
	case "maximum":
		return order <= 0
	case "exclusiveMinimum":
		return order > 0
	case "exclusiveMaximum":
		return order < 0
	}
	return isTyped(keyword)
}
