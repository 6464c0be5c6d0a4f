package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// precheck finds what the library reports without a place in the schema.
func precheck(doc any) []Violation {
	switch doc.(type) {
	case map[string]any, bool:
	default:
		return []Violation{{Keyword: "type", Message: "expected object or boolean, got " + typeOf(doc)}}
	}
	if bad := badNumbers(doc, ""); len(bad) > 0 {
		return bad
	}
	return danglingRefs(doc, doc, "")
}

// danglingRefs finds local references to nothing.
func danglingRefs(doc, v any, pointer string) []Violation {
	var out []Violation
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if isData(key) {
				continue
			}
			p := pointer + "/" + escape(key)
			if ref, ok := v[key].(string); ok && key == "$ref" && (ref == "#" || strings.HasPrefix(ref, "#/")) {
				if _, found := lookup(doc, splitPointer(ref[1:])); !found {
					out = append(out, Violation{Pointer: p, Keyword: "$ref", Message: fmt.Sprintf("there is nothing at %q in this schema", ref)})
				}
				continue
			}
			out = append(out, danglingRefs(doc, v[key], p)...)
		}
	case []any:
		for i, item := range v {
			out = append(out, danglingRefs(doc, item, pointer+"/"+strconv.Itoa(i))...)
		}
	}
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
func findString(v any, pointer string, match func(key, value string) bool) string {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			p := pointer + "/" + escape(key)
			if s, ok := v[key].(string); ok && match(key, s) {
				return p
			}
			if found := findString(v[key], p, match); found != "" {
				return found
			}
		}
	case []any:
		for i, item := range v {
			if found := findString(item, pointer+"/"+strconv.Itoa(i), match); found != "" {
				return found
			}
		}
	}
	return ""
}

// maxExponent bounds numbers: the library's exact arithmetic would write 1e999999999 out.
const maxExponent = 400

// badNumbers finds numbers that no float64 holds.
func badNumbers(v any, pointer string) []Violation {
	switch v := v.(type) {
	case json.Number:
		if !reasonable(v.String()) {
			return []Violation{{Pointer: pointer, Keyword: "number", Message: fmt.Sprintf("the number %s is out of range", excerpt(v))}}
		}
	case map[string]any:
		var out []Violation
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, badNumbers(v[key], pointer+"/"+escape(key))...)
		}
		return out
	case []any:
		var out []Violation
		for i, item := range v {
			out = append(out, badNumbers(item, pointer+"/"+strconv.Itoa(i))...)
		}
		return out
	}
	return nil
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
