package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"net/url"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
)

// The bounds of a schema: the library's time grows with the square of the number of subschemas.
const (
	// MaxSubschemas bounds subschemas, and values of enum that are objects or arrays.
	MaxSubschemas = 5000

	maxSchemaBytes = 2 << 20
	maxDepth       = 200       // of a schema: objects and arrays inside each other
	maxPatternSize = 10_000    // instructions of all patterns together, with their repetitions written out
	maxTargets     = 50_000    // subschemas below all that references lead to
	maxLookups     = 2_000_000 // anchors that are referred to, times subschemas: each is searched for
	maxEnumValues  = 20_000
)

// KeywordBound is the keyword of a violation that says that a schema or a value is beyond a bound.
const KeywordBound = "bound"

func beyond(what string, counted, limit int, try string) Violation {
	return Violation{
		Keyword: KeywordBound,
		Message: fmt.Sprintf("%s: counted %d, at most %d are checked; %s", what, counted, limit, try),
	}
}

// census counts what compiling and using a schema takes.
type census struct {
	subschemas int
	values     int // of enum
	composite  int // values of enum that are objects or arrays
	names      int // patterns of patternProperties
	pattern    int // size of all patterns
	anchors    int // references by name
	targets    map[string]struct{}
	deep       bool
}

// takeCensus counts without following references, in time linear in the document's size.
func takeCensus(doc any) *census {
	c := &census{targets: map[string]struct{}{}}
	c.walk(doc, 0)
	return c
}

func (c *census) walk(v any, depth int) {
	if c.deep = c.deep || depth > maxDepth; c.deep {
		return
	}
	switch v := v.(type) {
	case bool:
		c.subschemas++
	case []any:
		for _, item := range v {
			c.walk(item, depth+1)
		}
	case map[string]any:
		c.subschemas++
		for key, x := range v {
			c.keyword(key, x)
			if !isData(key) {
				c.walk(x, depth+1)
			}
		}
	}
}

// keyword counts what a keyword takes apart from subschemas. A property of its name has an object.
func (c *census) keyword(key string, v any) {
	switch v := v.(type) {
	case string:
		switch {
		case isRefKey(key):
			c.reference(v)
		case key == "pattern":
			c.pattern += patternSize(v)
		}
	case map[string]any:
		if key == "patternProperties" {
			for p := range v {
				c.names++
				c.pattern += patternSize(p)
			}
		}
	case []any:
		if key == "enum" {
			c.enum(v)
		}
	}
}

func (c *census) enum(values []any) {
	c.values += len(values)
	for _, x := range values {
		switch x.(type) {
		case map[string]any, []any:
			c.composite++
		}
	}
}

func (c *census) reference(ref string) {
	_, fragment, named := strings.Cut(ref, "#")
	if named && fragment != "" && !strings.HasPrefix(fragment, "/") {
		c.anchors++
		return
	}
	c.targets[fragment] = struct{}{}
}

func (c *census) size() int { return c.subschemas + c.composite }

// bounded says in what way a schema is beyond the bounds, nothing when it is not.
func bounded(doc any, size int) (*census, []Violation) {
	if size > maxSchemaBytes {
		return nil, []Violation{beyond("the schema has too many bytes", size, maxSchemaBytes, "leave out what does not check anything")}
	}
	c := takeCensus(doc)
	const split = "split it, or check less with it"
	switch {
	case c.deep:
		return c, []Violation{beyond("the schema is nested too deeply", maxDepth+1, maxDepth, `name its parts in $defs and refer to them with $ref`)}
	case c.size() > MaxSubschemas:
		return c, []Violation{beyond("the schema has too many subschemas", c.size(), MaxSubschemas, split)}
	case c.values > maxEnumValues:
		return c, []Violation{beyond("enum has too many values", c.values, maxEnumValues, "check the value with a validator or a tool")}
	case c.pattern > maxPatternSize:
		return c, []Violation{beyond("the patterns are too large with their repetitions written out", c.pattern, maxPatternSize,
			"repeat less ({1,1000} is a thousand copies), or bound the length with maxLength")}
	case c.anchors*c.subschemas > maxLookups:
		return c, []Violation{beyond("too many references by $anchor for a schema of this size", c.anchors*c.subschemas, maxLookups,
			`refer to "#/$defs/NAME"`)}
	}
	if n := c.below(doc); n > maxTargets {
		return c, []Violation{beyond("references lead to too many subschemas", n, maxTargets, "refer to parts of $defs that do not overlap")}
	}
	return c, nil
}

// below counts the subschemas below each target of a reference: the library may check them anew.
func (c *census) below(doc any) int {
	n := 0
	for _, fragment := range slices.Sorted(maps.Keys(c.targets)) {
		if p, err := url.PathUnescape(fragment); err == nil {
			fragment = p
		}
		target, ok := lookup(doc, source.SplitPointer(fragment))
		if !ok || fragment == "" {
			n += c.subschemas
		} else {
			n += takeCensus(target).subschemas
		}
		if n > maxTargets {
			break
		}
	}
	return n
}

// patternSize estimates the instructions of a pattern; 0: it is invalid, and refused later.
func patternSize(pattern string) int {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	return instructions(re)
}

func instructions(re *syntax.Regexp) int {
	n := 1 + bits.Len(uint(len(re.Rune))/8) // a class is one instruction, whose ranges are searched by halves
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, 1<<40)
}

// isPattern checks the format "regex" without compiling, which can take much memory.
func isPattern(v any) bool {
	s, ok := v.(string)
	if !ok {
		return true
	}
	_, err := syntax.Parse(s, syntax.Perl)
	return err == nil
}

type extent struct {
	nodes   int
	members int // of all objects
	text    int // bytes of the longest text
	items   int // of the longest array
	depth   int
}

func (e *extent) walk(v any, depth int) {
	e.nodes++
	e.depth = max(e.depth, depth)
	switch v := v.(type) {
	case string:
		e.text = max(e.text, len(v))
	case json.Number:
		e.text = max(e.text, len(v))
	case []any:
		e.items = max(e.items, len(v))
		for _, item := range v {
			e.walk(item, depth+1)
		}
	case map[string]any:
		e.members += len(v)
		for key, x := range v {
			e.text = max(e.text, len(key))
			e.walk(x, depth+1)
		}
	}
}

// canonical writes a value so that equal values, and no others, are written alike.
func canonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case json.Number:
		return append(b, exact(v)...)
	case string:
		return strconv.AppendQuote(b, v)
	case []any:
		b = append(b, '[')
		for _, item := range v {
			b = append(canonical(b, item), ',')
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b = append(strconv.AppendQuote(b, key), ':')
			b = append(canonical(b, v[key]), ',')
		}
		return append(b, '}')
	}
	return append(b, '?')
}
