package modeltext

import "encoding/json"

// Kind names the kind of a JSON value.
func Kind(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case bool:
		return "a boolean"
	case json.Number, float64, int:
		return "a number"
	case map[string]any:
		return "an object"
	default:
		return "a list"
	}
}
