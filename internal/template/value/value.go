// Package value is what templates calculate with: values of JSON, and the operators, filters, tests
// and methods on them.
//
// A value is nil, a bool, int64, float64, json.Number (only integers that are too large for int64),
// string, []any or map[string]any; beside them, and never inside them, a [Namespace] or a
// [Special]. No operation reaches a file, a Go method or a clock, each counts its work ([Run]), and
// one that fails panics with a [Failure].
package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// Special is a value of an evaluator that is no JSON value, such as a macro.
type Special interface {
	// Kind names it in errors.
	Kind() string
}

// Namespace is the result of namespace(): the one value whose members can be set.
type Namespace struct{ Members map[string]any }

// NotPlain says that a value which is no JSON value stands where one is needed.
func NotPlain() Failure {
	return Failf("a macro or a namespace is not a value: call the macro, or name one member")
}

// Plain makes one of the package's values; members become plain when they are reached.
func Plain(v any) any {
	switch x := v.(type) {
	case nil, bool, int64, string, []any, map[string]any, *Namespace:
		return x
	case float64:
		return finite(x)
	case int:
		return int64(x)
	case json.Number:
		return number(x)
	case json.RawMessage:
		return decode(x)
	}
	return plainKind(v)
}

// finite replaces what JSON has no number for.
func finite(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return f
}

func plainKind(v any) any {
	if s, ok := v.(Special); ok {
		return s
	}
	r := reflect.ValueOf(v)
	_, marshals := v.(json.Marshaler)
	switch {
	case marshals:
	case r.CanInt():
		return r.Int()
	case r.CanFloat():
		return finite(r.Float())
	case r.Kind() == reflect.String:
		return r.String()
	case r.Kind() == reflect.Bool:
		return r.Bool()
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("(a %T)", v)
	}
	return decode(b)
}

func decode(b []byte) any {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return string(b)
	}
	return Plain(v)
}

func number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	if !strings.ContainsAny(n.String(), ".eE") {
		return n
	}
	f, err := n.Float64()
	if err != nil {
		return n
	}
	return f
}

// Truthy reports whether a value counts as true.
func Truthy(v any) bool {
	switch x := v.(type) {
	case []any:
		return len(x) > 0
	case map[string]any:
		return len(x) > 0
	}
	return v != nil && v != false && v != int64(0) && v != float64(0) && v != ""
}

// Kind names a value's type in errors.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case int64, float64, json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case *Namespace:
		return "a namespace"
	}
	if s, ok := v.(Special); ok {
		return s.Kind()
	}
	return "a value"
}

// Text is how a value is written into a text: strings as they are, everything else as JSON.
func (r *Run) Text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return r.JSON(v, "")
}

// JSON returns v as JSON. With an indent, objects and lists are spread over lines.
func (r *Run) JSON(v any, indent string) string {
	w := jsonWriter{run: r, indent: indent}
	w.value(v, 0)
	return string(w.buf)
}
