package value

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// jsonWriter encodes values under the limits of a run: values may share parts, so that the text can
// be much larger than the value.
type jsonWriter struct {
	run    *Run
	buf    []byte
	indent string
}

func (w *jsonWriter) value(v any, depth int) {
	w.run.Spend(1)
	if len(w.buf) > maxOutput {
		panic(tooLong())
	}
	checkDepth(depth)
	switch x := Plain(v).(type) {
	case nil:
		w.buf = append(w.buf, "null"...)
	case bool:
		w.buf = strconv.AppendBool(w.buf, x)
	case int64:
		w.buf = strconv.AppendInt(w.buf, x, 10)
	case float64:
		number, _ := json.Marshal(x) // it is finite; 2.0 is written as 2
		w.buf = append(w.buf, number...)
	case json.Number:
		w.buf = append(w.buf, x...)
	case string:
		w.run.SpendBytes(len(x))
		w.buf = appendJSONString(w.buf, x)
	case []any:
		w.list(x, depth)
	case map[string]any:
		w.object(x, depth)
	default:
		panic(NotPlain())
	}
}

func (w *jsonWriter) list(l []any, depth int) {
	w.buf = append(w.buf, '[')
	for i, e := range l {
		w.separate(i, depth+1)
		w.value(e, depth+1)
	}
	w.close(len(l), depth, ']')
}

func (w *jsonWriter) object(m map[string]any, depth int) {
	w.buf = append(w.buf, '{')
	for i, k := range slices.Sorted(maps.Keys(m)) {
		w.separate(i, depth+1)
		w.buf = append(appendJSONString(w.buf, k), ':')
		if w.indent != "" {
			w.buf = append(w.buf, ' ')
		}
		w.value(m[k], depth+1)
	}
	w.close(len(m), depth, '}')
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

func appendJSONString(dst []byte, s string) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return append(dst, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// QuoteJSON returns s as a string of JSON.
func QuoteJSON(s string) string { return string(appendJSONString(nil, s)) }
