package schema

import "slices"

// maxSimpleBytes is how long a value may be that is checked against a simple schema without the
// library, whose bounds of work it cannot reach then.
const maxSimpleBytes = 64 << 10

var simpleKinds = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// isSimple reports whether a schema is what those of most tools are, and certainly valid: types of
// named properties and of items, and which of them are required. [plain] accepts their values; the
// library takes some thirty allocations for the smallest one.
func isSimple(doc any) bool {
	m, ok := doc.(map[string]any)
	if !ok {
		return false
	}
	kind, _ := m["type"].(string)
	for key, v := range m {
		if !isSimpleMember(kind, key, v) {
			return false
		}
	}
	return slices.Contains(simpleKinds, kind)
}

func isSimpleMember(kind, key string, v any) bool {
	switch key {
	case "type", "default":
		return true
	case "title", "description":
		return isText(v)
	case "additionalProperties":
		_, ok := v.(bool)
		return ok
	case "properties":
		named, ok := v.(map[string]any)
		for _, s := range named {
			ok = ok && isSimple(s)
		}
		return ok
	case "items":
		return isSimple(v)
	case "required":
		names, ok := v.([]any)
		for i, name := range names {
			ok = ok && isText(name) && !slices.Contains(names[:i], name)
		}
		return ok
	case "enum":
		values, ok := v.([]any)
		return ok && kind == "string" && !slices.ContainsFunc(values, func(x any) bool { return !isText(x) })
	}
	return false
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}
