package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
)

// precheck finds what the library reports without a place in the schema.
func precheck(doc any) []Violation {
	switch doc.(type) {
	case map[string]any, bool:
	default:
		return []Violation{{Keyword: "type", Message: "expected object or boolean, got " + typeOf(doc)}}
	}
	if bad := badNumbers(doc); len(bad) > 0 {
		return bad
	}
	return danglingRefs(doc)
}

// eachValue calls visit for v and every value inside it, with pointer and key ("" for items and
// v), members by name. It skips what is inside a value for which visit returns false.
func eachValue(v any, pointer, key string, visit func(pointer, key string, v any) bool) {
	if !visit(pointer, key, v) {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			eachValue(v[name], pointer+"/"+source.EscapePointer(name), name, visit)
		}
	case []any:
		for i, item := range v {
			eachValue(item, pointer+"/"+strconv.Itoa(i), "", visit)
		}
	}
}

// danglingRefs finds local references to nothing.
func danglingRefs(doc any) []Violation {
	var out []Violation
	eachValue(doc, "", "", func(pointer, key string, v any) bool {
		ref, ok := v.(string)
		if ok && key == "$ref" && (ref == "#" || strings.HasPrefix(ref, "#/")) {
			if _, found := lookup(doc, source.SplitPointer(ref[1:])); !found {
				out = append(out, Violation{Pointer: pointer, Keyword: "$ref", Message: fmt.Sprintf("there is nothing at %q in this schema", ref)})
			}
		}
		return !isData(key)
	})
	return out
}

// isData reports whether a keyword's value is data, not a schema.
func isData(key string) bool {
	return key == "const" || key == "enum" || key == "default" || key == "examples"
}

func isRefKey(key string) bool {
	return key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef"
}

// findString returns the pointer of the first string member that match accepts, or "".
func findString(doc any, match func(key, value string) bool) string {
	found := ""
	eachValue(doc, "", "", func(pointer, key string, v any) bool {
		if s, ok := v.(string); ok && found == "" && match(key, s) {
			found = pointer
		}
		return found == ""
	})
	return found
}

// maxExponent bounds numbers: the library's exact arithmetic would write 1e999999999 out.
const maxExponent = 400

// badNumbers finds numbers that no float64 holds.
func badNumbers(doc any) []Violation {
	var out []Violation
	eachValue(doc, "", "", func(pointer, _ string, v any) bool {
		if n, ok := v.(json.Number); ok && !reasonable(n.String()) {
			out = append(out, Violation{Pointer: pointer, Keyword: "number", Message: fmt.Sprintf("the number %s is out of range", excerpt(n))})
		}
		return true
	})
	return out
}

func reasonable(number string) bool {
	mantissa, exponent, found := strings.Cut(strings.ToLower(number), "e")
	if len(mantissa) > 1000 {
		return false
	}
	if !found {
		return true
	}
	e, err := strconv.Atoi(exponent)
	return err == nil && e >= -maxExponent && e <= maxExponent
}
