package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The values of a template are nil, bool, int64, float64, json.Number (only integers too large for int64), string,
// []any and map[string]any; beside them, and never inside them, *undefined, *macro and *namespace.

// undefined is the value of a variable that is not there.
type undefined struct {
	at   pos
	name string
	hint string
	soft bool // an entry of state or outputs: empty with a warning instead of an error
}

// namespace is the result of namespace(): the one value whose members can be set.
type namespace struct{ members map[string]any }

var errNotPlain = errors.New("a macro or a namespace is not a value: call the macro, or name one member")

// plain turns whatever a caller passed into one of the values above. Maps and lists are not copied: their members are
// made plain when they are reached.
func plain(v any) any {
	switch x := v.(type) {
	case nil, bool, int64, string, []any, map[string]any, *undefined, *macro, *namespace:
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
	return plain(v)
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

func truthy(v any) bool {
	switch x := v.(type) {
	case nil:
		return false
	case bool:
		return x
	case int64:
		return x != 0
	case float64:
		return x != 0
	case string:
		return x != ""
	case []any:
		return len(x) > 0
	case map[string]any:
		return len(x) > 0
	default:
		return true
	}
}

// kindOf names a value's type in errors.
func kindOf(v any) string {
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
	case *macro:
		return "a macro"
	case *namespace:
		return "a namespace"
	default:
		return "a value"
	}
}

// text is how a value is written into a text: strings as they are, everything else as JSON.
func (r *run) text(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return r.json(v, "")
}

// json returns v as JSON. With an indent, objects and lists are spread over lines.
func (r *run) json(v any, indent string) (string, error) {
	w := jsonWriter{run: r, indent: indent}
	if err := w.value(v, 0); err != nil {
		return "", err
	}
	return string(w.buf), nil
}

// maxDepth bounds how deep values nest.
const maxDepth = 200

// jsonWriter encodes values under the limits of a run: values may share parts, so that the text can be much larger
// than the value.
type jsonWriter struct {
	run    *run
	buf    []byte
	indent string
}

func (w *jsonWriter) value(v any, depth int) error {
	if err := w.run.spend(1); err != nil {
		return err
	}
	if len(w.buf) > w.run.maxOutput {
		return w.run.tooLong()
	}
	if depth > maxDepth {
		return limitf("a value nests deeper than %d levels", maxDepth)
	}
	switch x := plain(v).(type) {
	case nil:
		w.buf = append(w.buf, "null"...)
	case bool:
		w.buf = strconv.AppendBool(w.buf, x)
	case int64:
		w.buf = strconv.AppendInt(w.buf, x, 10)
	case float64:
		w.buf = appendFloat(w.buf, x)
	case json.Number:
		w.buf = append(w.buf, x...)
	case string:
		if err := w.run.spendBytes(len(x)); err != nil {
			return err
		}
		w.buf = appendJSONString(w.buf, x)
	case []any:
		return w.list(x, depth)
	case map[string]any:
		return w.object(x, depth)
	default:
		return errNotPlain
	}
	return nil
}

func (w *jsonWriter) list(l []any, depth int) error {
	w.buf = append(w.buf, '[')
	for i, e := range l {
		w.separate(i, depth+1)
		if err := w.value(e, depth+1); err != nil {
			return err
		}
	}
	w.close(len(l), depth, ']')
	return nil
}

func (w *jsonWriter) object(m map[string]any, depth int) error {
	w.buf = append(w.buf, '{')
	for i, k := range slices.Sorted(maps.Keys(m)) {
		w.separate(i, depth+1)
		w.buf = append(appendJSONString(w.buf, k), ':')
		if w.indent != "" {
			w.buf = append(w.buf, ' ')
		}
		if err := w.value(m[k], depth+1); err != nil {
			return err
		}
	}
	w.close(len(m), depth, '}')
	return nil
}

func (w *jsonWriter) separate(i, depth int) {
	if i > 0 {
		w.buf = append(w.buf, ',')
	}
	w.newline(depth)
}

func (w *jsonWriter) close(n, depth int, end byte) {
	if n > 0 {
		w.newline(depth)
	}
	w.buf = append(w.buf, end)
}

func (w *jsonWriter) newline(depth int) {
	if w.indent == "" {
		return
	}
	w.buf = append(w.buf, '\n')
	for range depth {
		w.buf = append(w.buf, w.indent...)
	}
}

// appendFloat writes a number as JSON does: 2.0 is 2.
func appendFloat(dst []byte, f float64) []byte {
	b, err := json.Marshal(f)
	if err != nil { // not finite; the operations do not make such numbers
		return append(dst, "null"...)
	}
	return append(dst, b...)
}

func appendJSONString(dst []byte, s string) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return append(dst, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}
