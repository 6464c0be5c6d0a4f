package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/windlass-run/windlass/internal/source"
)

// collector turns the library's errors into violations. It takes only places from the library;
// what a keyword says is read from the schema.
type collector struct {
	doc      any    // the schema; nil when the places lead into a meta-schema
	url      string // of doc
	instance any
	meter    *meter // nil: of a schema's own check
}

func (c *collector) spend(n int) {
	if c.meter != nil {
		c.meter.spend(n)
	}
}

func (c *collector) walk(e *jsonschema.ValidationError) []Violation {
	if len(e.Causes) == 0 {
		return c.leaf(e)
	}
	switch keyword, _ := c.keyword(e); keyword {
	case "anyOf", "oneOf":
		return c.union(e)
	case "contains", "minContains":
		return c.leaf(e)
	}
	var out []Violation
	for _, cause := range e.Causes {
		out = append(out, c.walk(cause)...)
	}
	return out
}

// union explains a value that fits no form: by the fewest violations of a form of its type, else
// by the types of the forms.
func (c *collector) union(e *jsonschema.ValidationError) []Violation {
	at := pointerOf(e.InstanceLocation)
	var fitting [][]Violation
	var types []string
	for _, branch := range e.Causes {
		found := c.walk(branch)
		if i := slices.IndexFunc(found, func(v Violation) bool { return v.Keyword == "type" && v.Pointer == at }); i >= 0 {
			for _, t := range found[i].Expected {
				if !slices.Contains(types, t) {
					types = append(types, t)
				}
			}
			continue
		}
		fitting = append(fitting, found)
	}
	if len(fitting) > 0 {
		return slices.MinFunc(fitting, func(a, b []Violation) int { return len(a) - len(b) })
	}
	return []Violation{{Pointer: at, Keyword: "type", Expected: types, Message: wrongType(types, c.value(e))}}
}

// keyword returns the name of the violated keyword and the tokens of its place in the schema.
func (c *collector) keyword(e *jsonschema.ValidationError) (string, []string) {
	_, fragment, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
	tokens := source.SplitPointer(pointerOf(fragment))
	n := len(tokens)
	switch {
	case n == 0:
		return "", nil
	case n >= 3 && (tokens[n-3] == "dependentRequired" || tokens[n-3] == "dependencies"):
		return tokens[n-3], tokens
	}
	return tokens[n-1], tokens
}

// pointerOf undoes the percent encoding that the library puts on pointers.
func pointerOf(location string) string {
	if p, err := url.PathUnescape(location); err == nil {
		return p
	}
	return location
}

func (c *collector) value(e *jsonschema.ValidationError) any {
	tokens := source.SplitPointer(pointerOf(e.InstanceLocation))
	if strings.Contains(e.KeywordLocation, "/propertyNames") && len(tokens) > 0 {
		return tokens[len(tokens)-1] // The name is what is checked, not its value.
	}
	v, _ := lookup(c.instance, tokens)
	return v
}

func (c *collector) leaf(e *jsonschema.ValidationError) []Violation {
	got := c.value(e)
	c.spend(4 + roughly(got)/8 + len(e.Message)/64)
	keyword, tokens := c.keyword(e)
	v := Violation{Pointer: pointerOf(e.InstanceLocation), Keyword: keyword, Message: e.Message}
	base, _, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
	if c.doc == nil || base != c.url && base != inlineURL {
		return []Violation{c.foreign(v, e)}
	}
	says, ok := lookup(c.doc, tokens)
	if !ok && keyword != "minContains" { // It is 1 when "contains" stands alone.
		return []Violation{v}
	}
	if says == false && keyword != "additionalProperties" && keyword != "unevaluatedProperties" {
		v.Keyword, v.Message = "false", "nothing is allowed here"
		return []Violation{v}
	}
	var around map[string]any
	if parent, ok := lookup(c.doc, tokens[:max(0, len(tokens)-1)]); ok {
		around, _ = parent.(map[string]any)
	}
	known, _ := around["properties"].(map[string]any)
	c.spend(roughly(says) + len(known))
	return c.explain(v, says, around, got)
}

// roughly is how many members, items or 64 bytes of text a message about a value looks at.
func roughly(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) / 64
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// foreign explains a violation of the meta-schema, or of one with an $id.
func (c *collector) foreign(v Violation, e *jsonschema.ValidationError) Violation {
	switch text, isText := c.value(e).(string); {
	case v.Keyword == "format" && isText:
		if _, err := regexp.Compile(text); err != nil {
			v.Message = err.Error()
		}
	case v.Keyword == "type":
		v.Message = strings.Replace(v.Message, ", but got ", ", got ", 1)
	}
	return v
}

// explain writes the message for a keyword, whose value is says, with the keywords around it.
func (c *collector) explain(v Violation, says any, around map[string]any, got any) []Violation {
	switch v.Keyword {
	case "type":
		v.Expected = stringList(says)
		v.Message = wrongType(v.Expected, got)
	case "required":
		return eachMissing(v, stringList(says), got)
	case "additionalProperties", "unevaluatedProperties":
		return eachUnknown(v, around, got)
	case "enum", "const":
		v.Expected = jsonList(says, v.Keyword == "enum")
		v.Message = fmt.Sprintf("expected %s, got %s", oneOf(v.Expected), excerpt(got))
	default:
		v.Message = cmp.Or(limitMessage(v.Keyword, says, got), v.Message)
	}
	return []Violation{v}
}

func wrongType(expected []string, got any) string {
	return fmt.Sprintf("expected %s, got %s", orList(expected), typeOf(got))
}

func orList(words []string) string {
	if len(words) < 3 {
		return strings.Join(words, " or ")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func eachMissing(v Violation, required []string, got any) []Violation {
	object, _ := got.(map[string]any)
	var out []Violation
	for _, name := range required {
		if _, ok := object[name]; !ok {
			v.Property, v.Message = name, fmt.Sprintf("missing required property %q", name)
			out = append(out, v)
		}
	}
	return out
}

func eachUnknown(v Violation, around map[string]any, got any) []Violation {
	object, _ := got.(map[string]any)
	properties, _ := around["properties"].(map[string]any)
	patterns, _ := around["patternProperties"].(map[string]any)
	known := slices.Sorted(maps.Keys(properties))
	var out []Violation
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, ok := properties[name]; ok || matchesAny(patterns, name) {
			continue
		}
		w := v
		w.Property, w.Expected, w.Message = name, known, fmt.Sprintf("unknown property %q", name)
		if len(known) > 0 && len(known) <= 12 {
			w.Message += "; known are " + strings.Join(known, ", ")
		}
		out = append(out, w)
	}
	if len(out) == 0 {
		return []Violation{v}
	}
	return out
}

func matchesAny(patterns map[string]any, name string) bool {
	for p := range patterns {
		if re, err := regexp.Compile(p); err == nil && re.MatchString(name) {
			return true
		}
	}
	return false
}

// limitForms explain the keywords that compare a value with a bound.
var limitForms = map[string]string{
	"minimum":          "must be at least BOUND, got VALUE",
	"exclusiveMinimum": "must be greater than BOUND, got VALUE",
	"maximum":          "must be at most BOUND, got VALUE",
	"exclusiveMaximum": "must be less than BOUND, got VALUE",
	"multipleOf":       "must be a multiple of BOUND, got VALUE",
	"pattern":          "VALUE does not match the pattern BOUND",
	"uniqueItems":      "two items are equal, all must differ",
	"contains":         "has too few items of the kind that it must contain",
	"minContains":      "has too few items of the kind that it must contain",
	"oneOf":            "fits more than one of the allowed forms, must fit exactly one",
	"not":              "has a form that is excluded",
}

func limitMessage(keyword string, says, got any) string {
	bound := excerpt(says)
	switch keyword {
	case "minLength", "minItems", "minProperties":
		return fmt.Sprintf("must have at least %s, has %d", counted(keyword, bound), sizeOf(got))
	case "maxLength", "maxItems", "maxProperties":
		return fmt.Sprintf("must have at most %s, has %d", counted(keyword, bound), sizeOf(got))
	case "format":
		return fmt.Sprintf("%s is not a valid %v", excerpt(got), says)
	}
	return strings.NewReplacer("BOUND", bound, "VALUE", excerpt(got)).Replace(limitForms[keyword])
}

func counted(keyword, bound string) string {
	nouns := map[string][2]string{
		"Length": {"character", "characters"}, "Items": {"item", "items"}, "Properties": {"property", "properties"},
	}[keyword[len("min"):]]
	if bound == "1" {
		return bound + " " + nouns[0]
	}
	return bound + " " + nouns[1]
}

func sizeOf(v any) int {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v)
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

func stringList(v any) []string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func jsonList(says any, several bool) []string {
	list, ok := says.([]any)
	if !several || !ok {
		list = []any{says}
	}
	out := make([]string, 0, len(list))
	for _, item := range list {
		out = append(out, excerpt(item))
	}
	return out
}

func oneOf(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return "one of " + strings.Join(values, ", ")
}

// typeOf names a decoded value's JSON type.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	case string:
		return "string"
	case []any:
		return "array"
	default:
		return "object"
	}
}

// excerpt writes a value as JSON, shortened to what fits a message.
func excerpt(v any) string {
	const limit = 80
	text := string(beginning(nil, v, 4*limit+1)) // a character has four bytes at most
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "..."
	}
	return text
}

// beginning appends at least the first limit bytes of a value as JSON, and looks at no more of it
// but the names of an object.
func beginning(b []byte, v any, limit int) []byte {
	switch v := v.(type) {
	case string:
		if len(v) > limit {
			v = strings.ToValidUTF8(v[:limit], "")
		}
		return source.AppendJSON(b, v)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if len(b) > limit {
				return b
			}
			if i > 0 {
				b = append(b, ',')
			}
			b = beginning(b, item, limit)
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if len(b) > limit {
				return b
			}
			if i > 0 {
				b = append(b, ',')
			}
			b = append(beginning(b, key, limit), ':')
			b = beginning(b, v[key], limit)
		}
		return append(b, '}')
	}
	return source.AppendJSON(b, v)
}
